#include "lissom/study/sweep_claims.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "lissom/core/error.hpp"
#include "lissom/core/process_identity.hpp"
#include "lissom/core/temporary_name.hpp"

namespace lissom {

using nlohmann::json;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

ClaimHolder own_holder(int attempt) {
  const ProcessIdentity own = own_process();
  return {own.host, own.machine, own.pid, own.born, attempt};
}

std::optional<ClaimHolder> read_claim(const std::filesystem::path& path) {
  try {
    const json j = json::parse(text_of(path));
    ClaimHolder holder;
    j.at("host").get_to(holder.host);
    j.at("machine").get_to(holder.machine);
    j.at("pid").get_to(holder.pid);
    j.at("born").get_to(holder.born);
    j.at("attempt").get_to(holder.attempt);
    return holder;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<Claim> Claim::take(const std::filesystem::path& path, int attempt) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) {
    // without the folder there is nothing left to be claimed
    if (errno == EEXIST || errno == ENOENT) return std::nullopt;
    fail("{}: cannot be written: {}", path.string(), std::strerror(errno));
  }
  Claim claim(path, own_holder(attempt));
  const ClaimHolder& h = claim.holder_;
  const std::string text =
      json{{"host", h.host}, {"machine", h.machine}, {"pid", h.pid}, {"born", h.born}, {"attempt", h.attempt}}
          .dump(-1, ' ', false, json::error_handler_t::replace);
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(file);
  if (!written) {
    std::error_code ec;
    std::filesystem::remove(path, ec);
    claim.path_.clear();
    fail("{}: cannot be written: {}", path.string(), std::strerror(error));
  }
  return claim;
}

Claim::Claim(Claim&& other) noexcept
    : path_(std::exchange(other.path_, {})), holder_(std::move(other.holder_)) {}

Claim& Claim::operator=(Claim&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(holder_, other.holder_);
  return *this;
}

bool Claim::beat() {
  if (path_.empty()) return false;
  if (read_claim(path_) == holder_) {
    utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
    return true;
  }
  path_.clear();
  return false;
}

void Claim::release() {
  if (path_.empty()) return;
  std::error_code ec;
  if (read_claim(path_) == holder_) std::filesystem::remove(path_, ec);
  path_.clear();
}

ClaimWatch::State ClaimWatch::look(const std::filesystem::path& path) {
  std::error_code ec;
  const auto beat = std::filesystem::last_write_time(path, ec);
  if (ec) {
    seen_.erase(path);
    return State::Free;
  }
  std::optional<ClaimHolder> holder = read_claim(path);
  const auto now = std::chrono::steady_clock::now();
  const auto [it, is_new] = seen_.try_emplace(path, Seen{beat, holder, now});
  Seen& seen = it->second;
  if (seen.beat != beat || seen.holder != holder) seen = {beat, holder, now};
  if (holder && holder->machine == own_holder().machine)
    return runs_here(holder->pid, holder->born) ? State::Alive : State::Dead;
  return std::chrono::duration<double>(now - seen.since).count() > patience_ ? State::Dead : State::Alive;
}

std::optional<int> ClaimWatch::bury(const std::filesystem::path& path) {
  const auto found = seen_.find(path);
  if (found == seen_.end()) return std::nullopt;
  const std::optional<ClaimHolder> dead = found->second.holder;
  seen_.erase(found);
  // several may try: one of them renames it
  const std::filesystem::path grave = path.parent_path() / temporary_name(path.filename().string());
  std::error_code ec;
  std::filesystem::rename(path, grave, ec);
  if (ec) return std::nullopt;
  const bool same = read_claim(grave) == dead;
  // that of a third one, who was quicker: back with it, unless somebody has claimed meanwhile. Then two do
  // the same work, and leave the same result
  if (!same) std::filesystem::create_hard_link(grave, path, ec);
  std::filesystem::remove(grave, ec);
  if (!same) return std::nullopt;
  return dead ? dead->attempt : 0;
}

}  // namespace lissom
