// Who a process is, for others that find what it has left: process numbers come again, and another machine
// that sees the same folder, or another container on this one, has numbers of its own.
#pragma once

#include <string>

namespace lissom {

struct ProcessIdentity {
  std::string host;     // its name, for people
  std::string machine;  // equal where pids can be compared: the boot of a kernel and a space of pids
  long pid = 0;
  long long born = 0;  // when the process started, in the kernel's ticks; 0: not known
};

ProcessIdentity own_process();

// Whether that process of this machine lives; one that has ended and that nobody has asked about yet does
// not.
bool runs_here(long pid, long long born);

// Eight hexadecimal digits that stand for own_process().machine in names of files.
const std::string& machine_tag();

}  // namespace lissom
