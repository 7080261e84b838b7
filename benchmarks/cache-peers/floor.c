// The least that a server does for a request: epoll_wait, recv and send, with a table of keys behind them. It speaks as much of memcached's text
// protocol as `outcrop cache load` with one get at a time needs, on loopback, and checks nothing: never offer it to anybody.
//
// cc -O2 -o floor benchmarks/cache-peers/floor.c && ./floor PORT et    (et: edge-triggered, lt: level-triggered)

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 1024, MOST_KEYS = 1 << 20, VALUE_BYTES = 16 };

static char input[MOST_CONNECTIONS][1 << 16];
static int have[MOST_CONNECTIONS];
static char keys[MOST_KEYS][48], values[MOST_KEYS][64];

// The place of a key, or the free place where it belongs.
static int place_of(const char *key, int length) {
    unsigned hash = 2166136261u;
    for (int i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)key[i]) * 16777619u;
    }
    hash %= MOST_KEYS;
    while (keys[hash][0] && (strncmp(keys[hash], key, length) || keys[hash][length])) {
        hash = (hash + 1) % MOST_KEYS;
    }
    return hash;
}

// Answers the complete requests of a connection; gives the bytes of the replies.
static int answer(int fd, char *out) {
    char *at = input[fd], *end = at + have[fd], *line_end;
    int written = 0;
    while ((line_end = memmem(at, end - at, "\r\n", 2))) {
        char *next = line_end + 2;
        if (!memcmp(at, "set ", 4)) {
            char key[256];
            unsigned flags, expiry, length;
            sscanf(at, "set %250s %u %u %u", key, &flags, &expiry, &length);
            if (end - next < (long)length + 2) {
                break;
            }
            int place = place_of(key, strlen(key));
            strcpy(keys[place], key);
            memcpy(values[place], next, length < 64 ? length : 64);
            if (!memmem(at, line_end - at, "noreply", 7)) {
                written += sprintf(out + written, "STORED\r\n");
            }
            next += length + 2;
        } else if (!memcmp(at, "get ", 4)) {
            int length = line_end - at - 4, place = place_of(at + 4, length);
            if (keys[place][0]) {
                written += sprintf(out + written, "VALUE %.*s 0 %d\r\n", length, at + 4, VALUE_BYTES);
                memcpy(out + written, values[place], VALUE_BYTES);
                written += VALUE_BYTES;
                written += sprintf(out + written, "\r\n");
            }
            written += sprintf(out + written, "END\r\n");
        } else if (!memcmp(at, "mn", 2)) {
            written += sprintf(out + written, "MN\r\n");
        } else if (!memcmp(at, "version", 7)) {
            written += sprintf(out + written, "VERSION 1.6.0\r\n");
        } else if (!memcmp(at, "stats", 5)) {
            written += sprintf(out + written, "END\r\n");
        } else {
            written += sprintf(out + written, memcmp(at, "flush_all", 9) ? "ERROR\r\n" : "OK\r\n");
        }
        at = next;
    }
    memmove(input[fd], at, end - at);
    have[fd] = end - at;
    return written;
}

int main(int count, char **arguments) {
    if (count != 3) {
        return 2;
    }
    unsigned how = strcmp(arguments[2], "et") ? EPOLLIN : EPOLLIN | EPOLLET | EPOLLRDHUP;
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (void *)&address, sizeof address) || listen(listener, 128)) {
        return 1;
    }
    int epoll = epoll_create1(0);
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = listener}, ready[64];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &wanted);
    for (;;) {
        int found = epoll_wait(epoll, ready, 64, -1);
        for (int i = 0; i < found; i++) {
            int fd = ready[i].data.fd;
            if (fd == listener) {
                int client = accept4(listener, 0, 0, SOCK_NONBLOCK);
                if (client >= MOST_CONNECTIONS) {
                    return 1;
                }
                setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                have[client] = 0;
                struct epoll_event of_client = {.events = how, .data.fd = client};
                epoll_ctl(epoll, EPOLL_CTL_ADD, client, &of_client);
                continue;
            }
            int received = recv(fd, input[fd] + have[fd], sizeof input[fd] - have[fd], 0);
            if (received <= 0) {
                close(fd);
                continue;
            }
            have[fd] += received;
            static char out[1 << 20];
            int written = answer(fd, out);
            if (written) {
                send(fd, out, written, MSG_NOSIGNAL);
            }
        }
    }
}
