/* A ClickHouse server survives a connection that is reset; the stand-in has no handler for it and dies. Here a reset is an end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

ssize_t recv(int fd, void *buffer, size_t size, int flags) {
  static ssize_t (*receive)(int, void *, size_t, int);
  if (!receive) receive = dlsym(RTLD_NEXT, "recv");
  ssize_t received = receive(fd, buffer, size, flags);
  return received < 0 && errno == ECONNRESET ? 0 : received;
}
