export default {
  testEnvironment: '<rootDir>/__tests__/support/environment.mjs',
  roots: ['<rootDir>/__tests__'],
  // Others have a command and a config of their own: `npm run test:tools` with every tool, `test:browser` with pages in Chromium,
  // `test:team` with a service for a team, `test:kubernetes` with a real cluster. A pattern here rather than testPathIgnorePatterns,
  // which the command line replaces.
  testMatch: [
    '**/*.test.ts',
    ...['tools', 'browser', 'e2e/team', 'kubernetes'].map((folder) => `!**/__tests__/${folder}/**`)
  ],
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
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }
    ]
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/build', '<rootDir>/bench'],
  // For a busy machine: the slowest takes a tenth of it on a quiet one, or says otherwise.
  testTimeout: 120_000,
  // For `npm run coverage`. The entries count, though only the end-to-end tests run them. What is generated or runs in a browser does
  // not, nor do the loops over samples in src/results: counting in them makes their tests take minutes, and these compare whole
  // results with other ways to compute them.
  coverageProvider: 'babel',
  collectCoverageFrom: [
    'src/**/*.ts',
    // They run in processes of their own.
    '!src/tools/**',
    '!src/server/{serve,readiness}.ts',
    '!src/server/metrics/**',
    '!src/server/http/request-log.ts',
    '!src/results/**',
    '!src/report/page/assets.ts',
    '!src/report/page/browser/**'
  ],
  coverageReporters: ['text-summary', 'json-summary'],
  coverageThreshold: { global: { statements: 96, branches: 90, functions: 96, lines: 97 } },
  testSequencer: '<rootDir>/__tests__/support/mixed-order.mjs',
  // Twice the cores of a small machine, for half of the files wait more than they work (mixed-order.mjs).
  maxWorkers: 4,
  // A worker keeps the modules of every file that it has run; collecting garbage among them takes more time than a new worker.
  workerIdleMemoryLimit: '300MB',
  maxConcurrency: 8
}
