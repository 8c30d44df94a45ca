// Names of files and folders that live no longer than the process which made them. A process that is killed
// leaves them; the name says whose they were, so that the next one can take them away.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lissom {

// ".NAME.lissom-MACHINE-PID-BORN-N.tmp": the eight digits of machine_tag(), the process, when it started, and
// a number that is another one at every call. A long NAME is cut, so that the result is a name too.
std::string temporary_name(std::string_view name);

// Who made a thing of that name.
struct TemporaryOwner {
  std::string machine;  // as machine_tag()
  long pid = 0;
  long long born = 0;
};
// False where the name is not one of ours, to the last character.
bool parse_temporary_name(std::string_view name, TemporaryOwner& owner);

// Whether its maker is gone for certain. Of another machine, or of this one before it was started anew,
// nothing is known: then it counts as gone when the thing has not been touched for a day.
bool is_left_behind(const std::filesystem::path& path, const TemporaryOwner& owner);

// Removes what dead processes have left in a folder under such names; not in the folders inside. Never a
// thing of a process that lives, of another user, or of another name. Returns how many there were.
int remove_left_behind(const std::filesystem::path& folder);

}  // namespace lissom
