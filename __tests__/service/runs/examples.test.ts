import { describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readConfigFile } from '../../../src/contract/config-file.js'
import { TOOLS } from '../../../src/contract/vocabulary.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'

const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const read = (path: string): string => readFileSync(inRepository(path), 'utf8')

describe.each([
  { example: 'shop', tool: 'jmeter', label: (name: string) => `testname="${name}"` },
  { example: 'gatling', tool: 'gatling', label: (name: string) => `http("${name}")` },
  {
    example: 'selenium',
    tool: 'java-selenium-chrome',
    label: (name: string) => `passed_transaction(driver, "${name}")`
  },
  { example: 'service-chrome', tool: 'service-chrome', label: (name: string) => `step('${name}'` },
  { example: 'k6', tool: 'k6', label: (name: string) => `name: '${name}'` }
])('the example examples/$example', ({ example, tool, label }) => {
  const config = readConfigFile(read(`examples/${example}/loadgate.yml`))
  const files = config.values.files?.split('\n') ?? []

  test('its config file contains only inputs, for the embedded service and its tool', () => {
    expect(config.problems).toEqual([])
    expect(config.values['base-url']).toBe('local')
    expect(config.values.tool ?? 'jmeter').toBe(tool)
    expect(TOOLS).toContain(tool)
  })

  test('its files exist', () => {
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => !existsSync(inRepository(file)))).toEqual([])
  })

  test('its plan has a label for each page of the shop, among them those of its thresholds', () => {
    const plan = read(files[0] ?? '')
    const labels = ['home', 'search', 'product', 'checkout']
    expect(labels.filter((name) => !plan.includes(label(name)))).toEqual([])
    const text = config.values.thresholds ?? ''
    expect(parseThresholds(text).problems).toEqual([])
    const named = [...text.matchAll(/label="([^"]*)"/g)].map((match) => match[1])
    expect(named).toContain('checkout')
    expect(named.filter((name) => !labels.includes(name ?? ''))).toEqual([])
  })
})
