const project = (displayName, testMatch, more = {}) => ({
  displayName,
  testMatch,
  testEnvironment: '<rootDir>/__tests__/support/environment.mjs',
  roots: ['<rootDir>/__tests__'],
  globalSetup: '<rootDir>/__tests__/support/make-temporary-folder.mjs',
  globalTeardown: '<rootDir>/__tests__/support/remove-temporary-folder.mjs',
  // In the temporary folder of the system by default.
  cacheDirectory: '<rootDir>/.cache/jest',
  setupFilesAfterEnv: ['<rootDir>/__tests__/support/state-home.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript' },
          experimental: { keepImportAttributes: true }
        },
        module: { type: 'es6' }
      }
    ]
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/build', '<rootDir>/bench'],
  ...more
})

/** Tests that need more than `npm test` does, and minutes. */
const longProject = (displayName, testMatch, more = {}) =>
  project(displayName, testMatch, {
    setupFilesAfterEnv: [
      '<rootDir>/__tests__/support/state-home.ts',
      '<rootDir>/__tests__/support/long-timeout.ts'
    ],
    ...more
  })

/** One file after the other, when all others are through. */
const alone = { runner: '<rootDir>/__tests__/support/one-by-one.mjs' }

const OTHERS = ['tools', 'browser', 'e2e/gates', 'e2e/team', 'e2e/faults', 'kubernetes']

export default {
  projects: [
    // `npm test`
    project('tests', ['**/*.test.ts', ...OTHERS.map((folder) => `!**/__tests__/${folder}/**`)]),
    // `npm run test:tools`: real Gatling, Selenium and browsers; some need the machine for themselves
    longProject('tools', ['**/__tests__/tools/*.test.ts']),
    longProject('tools alone', ['**/__tests__/tools/alone/*.test.ts'], alone),
    // `npm run test:browser`: the report's and the service's pages in Chromium, with keyboard and axe; the summary's charts in Mermaid
    project('browser', ['**/__tests__/browser/**/*.test.ts']),
    // `npm run test:e2e`: more gates as processes; a service for a team: users, queue, restarts, crashes, a full disk, a fuzz of every route;
    // a selection of the faults of `npm run faults`. With LOADGATE_ALL_SEEDS=1 in their full counts.
    longProject('e2e', ['**/__tests__/e2e/{gates,team,faults}/*.test.ts']),
    // `npm run test:kubernetes`: with a real cluster, the one of KUBECONFIG (scripts/cluster/up); some disturb it
    longProject('kubernetes', ['**/__tests__/kubernetes/*.test.ts']),
    longProject('kubernetes alone', ['**/__tests__/kubernetes/alone/*.test.ts'], alone)
  ],
  // For knip; jest asks the projects.
  testMatch: ['**/*.test.ts'],
  // For a busy machine: the slowest takes a tenth of it on a quiet one, or says otherwise.
  testTimeout: process.env.LOADGATE_ALL_SEEDS === undefined ? 120_000 : 600_000,
  testSequencer: '<rootDir>/__tests__/support/mixed-order.mjs',
  // Twice the cores of a small machine, for half of the files wait more than they work (mixed-order.mjs).
  maxWorkers: 4,
  // A worker keeps the modules of every file that it has run; collecting garbage among them takes more time than a new worker.
  workerIdleMemoryLimit: '300MB',
  maxConcurrency: 8,
  // The entries count, though only the end-to-end tests run them. What is generated or runs in a browser does not, nor do the loops over
  // samples in src/analysis/results: counting in them makes their tests take minutes, and these compare whole results with other ways to compute
  // them.
  coverageProvider: 'babel',
  collectCoverageFrom: [
    'src/**/*.ts',
    // They run in processes of their own.
    '!src/service/programs/**',
    '!src/service/{serve,readiness}.ts',
    '!src/service/metrics/**',
    '!src/analysis/results/**',
    '!src/report/page/assets.ts',
    '!src/report/page/browser/**'
  ],
  coverageReporters: ['text-summary', 'json-summary'],
  coverageThreshold: { global: { statements: 96, branches: 90, functions: 96, lines: 97 } }
}
