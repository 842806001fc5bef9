import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import tseslint from 'typescript-eslint'

/** The walls of the house: which rooms a room may import. Imports run downwards, never up or sideways. */
const BELOW_GATE = [
  'files',
  'plans',
  'protocol',
  'regions',
  'values',
  'service',
  'results',
  'thresholds',
  'baseline',
  'report',
  'evidence'
]
const MAY_IMPORT = {
  contract: ['protocol'],
  gate: BELOW_GATE,
  evidence: ['report', 'thresholds', 'results', 'values'],
  report: ['baseline', 'thresholds', 'results'],
  baseline: ['thresholds', 'results'],
  thresholds: ['results', 'values'],
  results: ['values'],
  protocol: [],
  regions: ['values'],
  values: [],
  files: [],
  plans: ['values'],
  service: ['protocol'],
  github: ['gate', 'report', 'baseline'],
  'service-config': ['regions', 'values'],
  server: [
    ...['evidence', 'files', 'plans', 'protocol', 'regions', 'report', 'results', 'service-config'],
    ...['thresholds', 'tools', 'values']
  ],
  tools: [],
  terminal: ['gate', 'service-config', ...BELOW_GATE]
}
/** The same for the rooms within a room. What lies at the root of a room is for all of them. */
const MAY_IMPORT_WITHIN = {
  gate: {
    settings: [],
    run: ['settings'],
    collect: ['run', 'settings'],
    live: ['collect', 'run', 'settings'],
    baseline: ['collect', 'run', 'settings'],
    verdict: ['baseline', 'collect', 'run', 'settings'],
    publish: ['verdict', 'baseline', 'collect', 'settings'],
    cleanup: ['collect', 'run'],
    grids: ['cleanup', 'run', 'settings'],
    'side-by-side': ['cleanup', 'collect', 'run', 'settings', 'verdict']
  },
  results: {
    csv: [],
    stalls: ['csv', 'kernel/assembly'],
    counts: ['kernel/assembly', 'stalls'],
    kernel: ['csv', 'counts', 'stalls'],
    transactions: ['csv', 'counts'],
    figures: ['counts', 'stalls'],
    scan: ['csv', 'counts', 'kernel', 'stalls', 'transactions', 'figures'],
    parallel: ['csv', 'counts', 'figures', 'scan']
  },
  baseline: { statistics: [], document: ['statistics'], judge: ['statistics'] },
  plans: { jmx: [], check: ['jmx'], make: ['jmx'] },
  report: { markdown: [], page: [] },
  thresholds: { grammar: [], judge: ['grammar'] },
  service: { http: [], documents: ['http'] },
  server: {
    nodes: [],
    samples: [],
    engines: ['nodes', 'samples'],
    store: ['engines', 'nodes'],
    queue: ['store', 'nodes'],
    accounts: ['store'],
    retention: ['store'],
    runs: ['store', 'queue', 'engines', 'nodes', 'samples'],
    judging: ['runs', 'store'],
    pages: ['accounts', 'judging', 'runs', 'queue', 'store', 'samples', 'http'],
    http: [],
    metrics: ['http', 'store', 'queue'],
    api: ['accounts', 'http', 'judging', 'pages', 'runs', 'queue', 'store', 'engines', 'samples']
  }
}
/** Folders within an inner room: tools do not know each other. */
const MAY_IMPORT_BESIDE = {
  'server/nodes': { kubernetes: [], pods: ['kubernetes'], machine: [] },
  'server/engines': {
    install: [],
    image: [],
    jmeter: ['install', 'image'],
    gatling: ['install', 'image'],
    selenium: ['install', 'image'],
    browser: ['install', 'image']
  }
}
const ROOMS = Object.keys(MAY_IMPORT)
const OWNED_PACKAGES = [
  { regex: '^undici(/|$)', owner: 'service' },
  { regex: '^@actions/', owner: 'github' },
  { regex: '^(fastify|@fastify/)', owner: 'server' },
  { regex: '^(@kubernetes/|ws$)', owner: 'server' },
  { regex: '^prom-client$', owner: 'server' },
  { regex: '^@?valibot', owner: 'contract' }
]
const NO_IO = '^(node:)?(fs|fs/promises|net|http|http2|https|tls|dgram|dns|child_process|cluster)$'
const DEEPEST_FOLDER = 3

/** One rule per folder and depth: the number of steps up tells which folder an import leads to. */
const wallsOf = (room) => [
  ruleFor(`src/${room}/*.ts`, forbiddenRooms(room, 1)),
  ...Object.keys(MAY_IMPORT_WITHIN[room] ?? { '*': [] }).flatMap((inner) =>
    Array.from({ length: DEEPEST_FOLDER }, (_, deeper) =>
      ruleFor(`src/${[room, inner, ...Array(deeper).fill('*')].join('/')}/*.ts`, [
        ...forbiddenRooms(room, deeper + 2),
        ...forbiddenWithin(room, inner, deeper + 1)
      ])
    )
  ),
  ...Object.keys(MAY_IMPORT_WITHIN[room] ?? {}).flatMap((inner) =>
    Object.entries(MAY_IMPORT_BESIDE[`${room}/${inner}`] ?? {}).map(([folder, allowed], _, all) =>
      ruleFor(`src/${room}/${inner}/${folder}/*.ts`, [
        ...forbiddenRooms(room, 3),
        ...forbiddenWithin(room, inner, 2),
        ...all
          .map(([other]) => other)
          .filter((other) => other !== folder && !allowed.includes(other))
          .map((other) => ({
            regex: `^\\.\\./${other}/`,
            message: `src/${room}/${inner}/${folder} may not import its neighbour ${other}.`
          }))
      ])
    )
  )
]

const ruleFor = (files, patterns) => ({
  files: [files],
  rules: { 'no-restricted-imports': ['error', { patterns }] }
})

const forbiddenRooms = (room, depth) => [
  ...ROOMS.filter((other) => ![room, 'contract', ...MAY_IMPORT[room]].includes(other)).map((other) => ({
    regex: `^(\\.\\./){${depth}}${other}/`,
    message: `src/${room} may not import src/${other}: imports run downwards.`
  })),
  {
    regex: `^(\\.\\./){${depth}}(action|cli)\\.js$`,
    message: 'Entries wire the parts together; nothing imports them.'
  },
  ...OWNED_PACKAGES.filter(({ owner }) => owner !== room).map(({ regex, owner }) => ({
    regex,
    message: `Only src/${owner} may import this package.`
  })),
  ...(['plans', 'thresholds', 'report'].includes(room)
    ? [{ regex: NO_IO, message: `src/${room} does no I/O.` }]
    : [])
]

const forbiddenWithin = (room, inner, depth) => {
  const allowed = MAY_IMPORT_WITHIN[room]?.[inner] ?? []
  return Object.keys(MAY_IMPORT_WITHIN[room] ?? {})
    .filter((other) => other !== inner && !allowed.includes(other))
    .map((other) => {
      const exceptions = allowed.filter((name) => name.startsWith(`${other}/`)).map((name) => `(?!${name}/)`)
      return {
        regex: `^(\\.\\./){${depth}}${exceptions.join('')}${other}/`,
        message: `src/${room}/${inner} may not import src/${room}/${other}: see eslint.config.js.`
      }
    })
}

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'build/',
      'coverage/',
      'node_modules/',
      'bench/node_modules/',
      'bench/data/',
      // AssemblyScript, which its own compiler checks.
      'src/results/kernel/assembly/',
      // Plans and scripts as people write them.
      'examples/',
      '__tests__/fixtures/element/',
      '.cache/'
    ]
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error'
    }
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        performance: 'readonly',
        AbortController: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly'
      }
    }
  },
  ...ROOMS.flatMap(wallsOf),
  {
    files: ['src/{action,cli}.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: OWNED_PACKAGES.map(({ regex, owner }) => ({
            regex,
            message: `Only src/${owner} may import this package.`
          }))
        }
      ]
    }
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/{action,cli}.ts', 'src/tools/*/main.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Only the entries end the process.' }
      ]
    }
  },
  {
    files: ['__tests__/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off'
    }
  },
  prettier
)
