/** The keys of the file, with what `schema/service.schema.json` says of them. */
export const CONFIG_KEYS = {
  listen:
    'Where the service listens: address and port, such as `0.0.0.0:8443`, `"[::1]:8443"` (in quotes), or `:8443` for all addresses. Port 0 is any free port. Beyond loopback it needs `tls` or `behind-proxy`.',
  data: 'Folder for runs, results, users and the audit log.',
  'external-url':
    'The address under which people and gates reach the service, used in links and redirects. Default: made from `listen` and the name of this machine.',
  tls: 'Serve https with this certificate. The files are read again when they change.',
  'behind-proxy': 'Instead of `tls`: a proxy in front of the service serves https.',
  'max-nodes':
    'How many nodes may be at work at a time, in all runs. Further runs wait. Default: a run on this machine has it to itself, with at most as many nodes as it has cores.',
  drain:
    'How long runs and uploads may go on when the service is told to end (SIGTERM), such as `10m`, or whole seconds; after that runs are ended and their results so far kept.',
  retention:
    'What is beyond one of these limits is deleted, the oldest first. Default: nothing is ever deleted.',
  metrics: 'Serve `/metrics` to callers with this token, or from these addresses. Default: nobody.',
  regions: 'Where the nodes of each region run. Default: every region is this machine.'
} as const
export const REQUIRED_KEYS = ['listen', 'data'] as const satisfies readonly (keyof typeof CONFIG_KEYS)[]

export const TLS_KEYS = {
  certificate: 'File with the certificate and those between it and the root, in PEM format.',
  key: 'File with its private key, in PEM format.'
} as const

export const PROXY_KEYS = {
  trusted:
    'Addresses and ranges of the proxies. Their X-Forwarded-* headers are believed; requests from elsewhere are refused.'
} as const

export const RETENTION_KEYS = {
  days: 'Age of a run at most, in days.',
  size: 'Size of all results at most, such as `50GB` or `1TiB`.',
  'runs-per-project': 'Number of runs of a project at most.'
} as const

export const METRICS_KEYS = {
  'token-file':
    'File with the token that callers send as `Authorization: Bearer …`. It is read again when it changes.',
  allow: 'Addresses and ranges that need no token.'
} as const

export const DEFAULT_DRAIN = '10m'

export function namesOf<const K extends string>(keys: Readonly<Record<K, string>>): K[] {
  return Object.keys(keys) as K[]
}
