import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import tseslint from 'typescript-eslint'

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
      'src/analysis/results/kernel/assembly/',
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
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }]
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
  {
    files: ['src/**/*.ts'],
    ignores: ['src/{action,cli}.ts', 'src/service/programs/*/main.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'exit', message: 'Only the entries end the process.' }
      ]
    }
  },
  {
    // What Node has and browsers lack: for the types of what the page is given, its scripts are checked with Node's.
    files: ['src/report/page/browser/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        'Buffer',
        'clearImmediate',
        'global',
        'process',
        'require',
        'setImmediate'
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
