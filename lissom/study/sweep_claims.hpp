// Claims of processes on pieces of work in a folder that they share, also from several machines: a claim is a
// file that exactly one of them can create.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace lissom {

// Who holds a claim.
struct ClaimHolder {
  std::string host;     // its name, for people
  std::string machine;  // what tells machines, and containers on one, apart: equal where pids can be compared
  long pid = 0;
  long long born = 0;  // when the process started, in the kernel's ticks: pids come again
  int attempt = 1;
  bool operator==(const ClaimHolder&) const = default;
};

// This process.
ClaimHolder own_holder(int attempt = 1);
// The holder that the file names; nothing where it is gone, empty or damaged.
std::optional<ClaimHolder> read_claim(const std::filesystem::path& path);

// A claim that this process holds until it is released or destroyed. It has a heartbeat, the time of the
// file's last change, for which somebody has to call beat().
class Claim {
 public:
  // Nothing where another one has it. Throws Error where the file cannot be written.
  static std::optional<Claim> take(const std::filesystem::path& path, int attempt = 1);
  ~Claim() { release(); }
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&& other) noexcept;
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  const ClaimHolder& holder() const { return holder_; }
  // False where it was taken away meanwhile, by one who thought this process dead; it is then given up.
  bool beat();
  void release();

 private:
  Claim(std::filesystem::path path, ClaimHolder holder)
      : path_(std::move(path)), holder_(std::move(holder)) {}
  std::filesystem::path path_;  // empty: none any more
  ClaimHolder holder_;
};

// Judges claims of others. On this machine a holder is dead when its process is gone; on another one when
// the heartbeat has stood still for `patience` seconds by the clock of this process: clocks of machines are
// not compared.
class ClaimWatch {
 public:
  explicit ClaimWatch(double patience) : patience_(patience) {}
  enum class State { Free, Alive, Dead };
  State look(const std::filesystem::path& path);
  // Takes a dead holder's claim away, so that somebody can take it; its attempt, or nothing where the claim
  // is not what it was when it was looked at last.
  std::optional<int> bury(const std::filesystem::path& path);

 private:
  struct Seen {
    std::filesystem::file_time_type beat;
    std::optional<ClaimHolder> holder;
    std::chrono::steady_clock::time_point since;
  };
  double patience_;
  std::map<std::filesystem::path, Seen> seen_;
};

}  // namespace lissom
