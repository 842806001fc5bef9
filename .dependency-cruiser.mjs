// The walls of the house. Imports run downwards, never up, sideways or in circles; imports of types count.
const ROOMS = {
  contract: [],
  client: ['contract'],
  analysis: ['contract'],
  report: ['analysis', 'contract'],
  gate: ['report', 'analysis', 'client', 'contract'],
  service: ['report', 'analysis', 'contract'],
  cli: ['gate', 'service', 'report', 'analysis', 'client', 'contract']
}
/** The same for the folders within a room. What lies at the root of a room is for all of them. */
const FOLDERS = {
  'analysis/results': {
    csv: [],
    stalls: ['csv', 'kernel/assembly'],
    counts: ['kernel/assembly', 'stalls'],
    kernel: ['csv', 'counts', 'stalls'],
    transactions: ['csv', 'counts'],
    figures: ['counts', 'stalls'],
    scan: ['csv', 'counts', 'kernel', 'stalls', 'transactions', 'figures'],
    parallel: ['csv', 'counts', 'figures', 'scan']
  },
  analysis: {
    plans: [],
    results: [],
    thresholds: ['results'],
    baseline: ['thresholds', 'results'],
    evidence: ['thresholds', 'results']
  },
  service: {
    programs: [],
    config: [],
    nodes: [],
    samples: [],
    http: ['config'],
    engines: ['nodes', 'samples', 'programs'],
    store: ['engines', 'nodes'],
    queue: ['store', 'nodes', 'runs'],
    accounts: ['store', 'config'],
    retention: ['store', 'config'],
    runs: ['store', 'queue', 'engines', 'nodes', 'samples'],
    judging: ['runs', 'store'],
    pages: ['accounts', 'judging', 'runs', 'queue', 'store', 'samples', 'http'],
    metrics: ['http', 'store', 'queue', 'config'],
    api: ['accounts', 'http', 'judging', 'pages', 'runs', 'queue', 'store', 'engines', 'samples']
  },
  'service/nodes': { kubernetes: [], pods: ['kubernetes'], machine: [] },
  'service/engines': {
    install: [],
    image: [],
    jmeter: ['install', 'image'],
    gatling: ['install', 'image'],
    selenium: ['install', 'image'],
    browser: ['install', 'image']
  }
}
/** Packages that one folder alone may import. */
const OWNERS = {
  'undici(/|$)': 'src/client/',
  '@actions/': 'src/gate/github/',
  '(fastify|@fastify/)': 'src/service/',
  '(@kubernetes/|ws$)': 'src/service/',
  'prom-client$': 'src/service/',
  'valibot(/|$)': 'src/contract/'
}
const IO = '^(node:)?(fs|fs/promises|net|http|http2|https|tls|dgram|dns|child_process|cluster)$'

const either = (paths) => `^src/(${paths.join('|')})/`
const forbid = (name, from, to) => ({ name, severity: 'error', from, to })

const walls = Object.entries(ROOMS).map(([room, allowed]) =>
  forbid(
    `${room} imports downwards`,
    { path: `^src/${room}/` },
    { path: '^src/', pathNot: either([room, ...allowed]) }
  )
)
const inner = Object.entries(FOLDERS).flatMap(([room, folders]) =>
  Object.entries(folders).map(([folder, allowed]) =>
    forbid(
      `${room}/${folder} imports downwards`,
      { path: `^src/${room}/${folder}/` },
      {
        path: either(Object.keys(folders).map((name) => `${room}/${name}`)),
        pathNot: either([folder, ...allowed].map((name) => `${room}/${name}`))
      }
    )
  )
)
const packages = Object.entries(OWNERS).map(([name, owner]) =>
  forbid(
    `only ${owner} imports ${name}`,
    { path: '^src/', pathNot: `^${owner}` },
    { path: `^node_modules/${name}` }
  )
)

export default {
  forbidden: [
    forbid('no circles', {}, { circular: true }),
    ...walls,
    ...inner,
    ...packages,
    forbid(
      'no input or output',
      { path: '^src/(analysis/(plans|thresholds|evidence|baseline)|report)/' },
      { path: IO }
    )
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^src/analysis/results/kernel/assembly/', '^src/report/page/browser/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.mjs'] }
  }
}
