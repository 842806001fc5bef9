import { expect, test } from '@jest/globals'
import { runUrl } from '../../../src/gate/run/run-status.js'
import { makeRun, makeSettings } from '../../support/gate/gate-ports.js'

test.each([
  ['https://service.example/run1', 'https://service.example/run1'],
  ['http://127.0.0.1:9/run1', 'http://127.0.0.1:9/run1'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['/run1', undefined],
  ['', undefined],
  [`https://service.example/${'x'.repeat(3000)}`, undefined],
  [undefined, undefined]
])('the permalink %p gives %p', (permalink, url) => {
  expect(runUrl(makeSettings(), makeRun({ permalink }))).toBe(url)
})

test('line breaks in it do not come through', () => {
  expect(runUrl(makeSettings(), makeRun({ permalink: 'https://service.example/a\n::error::x' }))).toBe(
    'https://service.example/a::error::x'
  )
})

test('the embedded service has no page that outlives the step', () => {
  const settings = makeSettings({ target: { kind: 'local' } })
  expect(runUrl(settings, makeRun({ permalink: 'http://127.0.0.1:9/run1' }))).toBeUndefined()
})
