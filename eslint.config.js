import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import tseslint from 'typescript-eslint'

/** The walls of the house: who may import whom. Imports run downwards, never up or sideways into a face. */
const MAY_IMPORT = {
  gate: ['service', 'results', 'thresholds', 'report'],
  report: ['thresholds', 'results'],
  thresholds: ['results'],
  results: [],
  service: [],
  github: ['gate', 'report'],
  server: ['results'],
  terminal: ['gate', 'service', 'results', 'thresholds', 'report']
}
const ROOMS = Object.keys(MAY_IMPORT)
const OWNED_PACKAGES = [
  { regex: '^undici(/|$)', owner: 'service' },
  { regex: '^@actions/', owner: 'github' },
  { regex: '^(fastify|@fastify/)', owner: 'server' }
]
const NO_IO = '^(node:)?(fs|fs/promises|net|http|http2|https|tls|dgram|dns|child_process|cluster)$'
const DEEPEST_FOLDER = 4

/** One rule per room and depth: as many steps up as the folder is deep lead out of the room. */
const wallsOf = (room) =>
  Array.from({ length: DEEPEST_FOLDER }, (_, depth) => ({
    files: [`src/${[room, ...Array(depth).fill('*')].join('/')}/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns: forbidden(room, depth + 1) }] }
  }))

const forbidden = (room, depth) => [
  ...ROOMS.filter((other) => other !== room && !MAY_IMPORT[room].includes(other)).map((other) => ({
    regex: `^(\\.\\./){${depth}}${other}/`,
    message: `src/${room} may not import src/${other}: imports run downwards.`
  })),
  {
    regex: `^(\\.\\./){${depth}}(main|post|cli)\\.js$`,
    message: 'Entries wire the parts together; nothing imports them.'
  },
  ...OWNED_PACKAGES.filter(({ owner }) => owner !== room).map(({ regex, owner }) => ({
    regex,
    message: `Only src/${owner} may import this package.`
  })),
  ...(['thresholds', 'report'].includes(room) ? [{ regex: NO_IO, message: `src/${room} does no I/O.` }] : [])
]

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
        Buffer: 'readonly',
        URL: 'readonly'
      }
    }
  },
  ...ROOMS.flatMap(wallsOf),
  {
    files: ['src/{main,post,cli}.ts'],
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
    ignores: ['src/{main,post,cli}.ts'],
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
