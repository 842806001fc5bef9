/** Why nobody can be served there, and what to do, to follow the name of the address; undefined for any other error. */
export function explainListen(thrown: unknown): string | undefined {
  const { code = '' } = thrown as NodeJS.ErrnoException
  switch (code) {
    case 'EADDRINUSE':
      return 'is in use by another process; end that one (`ss -ltnp` shows it), or choose another port'
    case 'EACCES':
    case 'EPERM':
      return 'may not be used by this user; choose a port from 1024 on, or give the process the right (CAP_NET_BIND_SERVICE)'
    case 'EADDRNOTAVAIL':
      return 'is not an address of this machine; choose one of its own, or 0.0.0.0 for all of them'
    case 'EAFNOSUPPORT':
      return 'is an address of IPv6, which this machine does not have; choose one of IPv4, such as 0.0.0.0'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'is a name that this machine cannot resolve; choose an address of its own'
    default:
      return undefined
  }
}
