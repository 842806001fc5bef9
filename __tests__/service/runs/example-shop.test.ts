import { describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readConfigFile } from '../../../src/contract/config-file.js'
import { readSamplerNames } from '../../../src/service/plans/names.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'

const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const config = readConfigFile(readFileSync(inRepository('examples/shop/loadgate.yml'), 'utf8'))

describe('the example of the shop', () => {
  test('its config file contains only inputs', () => {
    expect(config.problems).toEqual([])
    expect(config.values['base-url']).toBe('local')
  })

  test('its files exist', () => {
    const files = config.values.files?.split('\n') ?? []
    expect(files).toHaveLength(2)
    expect(files.map((file) => existsSync(inRepository(file)))).toEqual([true, true])
  })

  test('its thresholds are about labels of the plan', () => {
    const { thresholds, problems } = parseThresholds(config.values.thresholds ?? '')
    expect(problems).toEqual([])
    expect(thresholds.length).toBeGreaterThan(4)
    const plan = readFileSync(inRepository('examples/shop/plan.jmx'), 'utf8')
    expect(readSamplerNames(plan)).toEqual(['home', 'search', 'product', 'checkout'])
  })
})
