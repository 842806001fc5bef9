import { expect, test } from '@jest/globals'
import { vocabularyOf } from '../../src/contract/vocabulary.js'

test.each([
  [
    'without a service name',
    undefined,
    { run: 'run', runs: 'runs', files: 'run_files', mediaType: 'application/vnd.service.v2+json' },
    'service-chrome'
  ],
  [
    'with one',
    'acme',
    { run: 'acme', runs: 'acmes', files: 'acme_files', mediaType: 'application/vnd.acme.v2+json' },
    'acme-chrome'
  ]
])('%s', (_, name, words, chrome) => {
  const vocabulary = vocabularyOf(name)
  expect(vocabulary).toMatchObject(words)
  expect(vocabulary.toolName('service-chrome')).toBe(chrome)
  expect(vocabulary.toolName('jmeter')).toBe('jmeter')
})
