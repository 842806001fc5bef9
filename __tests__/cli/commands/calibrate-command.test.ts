import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CancelledError } from '../../../src/gate/errors.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { CSV_HEADER, FakeService, STARTED_MS } from '../../support/fake-service.js'
import { makeCommandPorts } from '../command-ports.js'
import type { TestCommandPorts } from '../command-ports.js'
import { removeFolder } from '../../support/remove-folder.js'

const GRIDS =
  '[{ region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }]'

let workspace: string
let service: FakeService
beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), 'loadgate-calibrate-'))
  writeFileSync(join(workspace, 'plan.jmx'), '<jmeterTestPlan/>')
  service = await new FakeService().start()
  service.statuses = ['finished']
})
afterEach(async () => {
  await service.stop()
  removeFolder(workspace)
})

/** A thousand samples over ten seconds, all slower by the factor. */
function csvOf(factor: number, seconds = 10): string {
  const rows = Array.from({ length: 1000 }, (_, index) => {
    const elapsed = Math.round((100 + (index % 50) * 4) * factor)
    return `${STARTED_MS + index * seconds},${elapsed},home,200,OK,t 1-1,text,true,,10,10,1,1,null,1,0,0`
  })
  return `${[CSV_HEADER, ...rows].join('\n')}\n`
}

/** Each run has the next factor. */
function varyBy(...factors: readonly number[]): void {
  service.csv = () => csvOf(factors[service.runList.length - 1] ?? 1)
}

interface Document {
  readonly runs: number
  readonly figures: readonly { name: string; typical: number; noise: number }[]
  readonly lines: readonly { text: string; noise: number; recorded: readonly { changePct: number }[] }[]
  readonly suggestedNoise: number
  readonly runList: readonly { runId: string; verdict: string }[]
}

function makePorts(): TestCommandPorts {
  return makeCommandPorts({
    workspace,
    token: service.token,
    findFiles: () => (pattern) => Promise.resolve([join(workspace, pattern)])
  })
}

function calibrate(ports: TestCommandPorts, ...args: string[]): Promise<number> {
  const given = ['--base-url', service.url, '--grids', GRIDS, '--files', 'plan.jmx', '--output', 'out']
  return runCommandLine(['calibrate', ...given, ...args], ports)
}

const created = (): number =>
  service.seen.filter(({ method, path }) => method === 'POST' && path === '/api/runs').length

describe('loadgate calibrate', () => {
  test('runs the plan as often as asked, judges nothing, and reports the noise', async () => {
    varyBy(1, 1.06, 0.97, 1.02)
    const ports = makePorts()
    const lines = ['--thresholds', 'p95 < 1ms', '--thresholds', 'p95 <= baseline + 20%']
    expect(await calibrate(ports, '--runs', '4', '--json', ...lines)).toBe(0)
    const document = JSON.parse(ports.screen.out.text) as Document
    expect(document.runs).toBe(4)
    expect(document.runList.map(({ runId }) => runId)).toEqual(service.runList.map(({ uuid }) => uuid))
    expect(document.runList.map(({ verdict }) => verdict)).toEqual(['passed', 'passed', 'passed', 'passed'])
    const [mean] = document.figures.filter(({ name }) => name === 'mean')
    // Of the differences between neighbours: ln 1.06, ln (0.97 / 1.06), ln (1.02 / 0.97).
    const differences = [Math.log(1.06), Math.log(0.97 / 1.06), Math.log(1.02 / 0.97)]
    const expected = Math.sqrt(differences.reduce((sum, d) => sum + d * d, 0) / 3 / 2)
    expect(mean?.noise).toBeCloseTo(expected, 2)
    expect(document.suggestedNoise).toBeGreaterThanOrEqual(expected)
    expect(document.lines.map(({ text }) => text)).toEqual(['p95 <= baseline + 20%'])
    expect(created()).toBe(4)
    expect(readdirSync(join(workspace, 'out')).sort()).toEqual(['run-1', 'run-2', 'run-3', 'run-4'])
  })

  test('without --json people read what to set and what to do', async () => {
    varyBy(1, 1.001, 0.999, 1.001, 1)
    const ports = makePorts()
    expect(await calibrate(ports)).toBe(0)
    const { text } = ports.screen.out
    expect(text).toContain('Run 5 of 5\n')
    expect(text).toContain('Calibration of 5 runs of the same plan: how much its figures vary')
    expect(text).toMatch(/^p95 +\d+ ms +[\d.]+ %$/m)
    expect(text).toMatch(/^p95 <= baseline \+ 10% +[\d.]+ % +\+/m)
    expect(text).toMatch(/^throughput >= baseline - 10% .* -\d/m)
    expect(text).toContain('False alarms to expect in 1,000 runs without a change: ')
    expect(text).toContain('- Set `noise: 1%`; it is 5% now.\n')
    expect(text).toContain('- Quiet enough for recorded runs')
  })

  test('a noisy plan is sent to side by side, and the line is named', async () => {
    varyBy(1, 1.8, 0.9, 2, 1)
    const ports = makePorts()
    expect(await calibrate(ports)).toBe(0)
    expect(ports.screen.out.text).toMatch(
      /^- Too noisy for recorded runs: .*`p95 <= baseline \+ 10%`.*`baseline: side-by-side`/m
    )
  })

  test('a run that is inconclusive is left out, with its reason', async () => {
    service.csv = () => (service.runList.length === 2 ? csvOf(1, 3) : csvOf(1))
    const ports = makePorts()
    expect(await calibrate(ports, '--runs', '4', '--duration', '10s')).toBe(0)
    expect(ports.screen.out.text).toMatch(/^Run 2 is not used: The samples of grid \S+ span 3 s of the 10 s/m)
    expect(ports.screen.out.text).toContain('Calibration of 3 runs')
    expect(ports.screen.out.text).toContain('- 1 run could not be used; the log says why.')
    expect(created()).toBe(4)
  })

  test('with fewer than three usable runs there is no calibration', async () => {
    service.csv = () => (service.runList.length === 2 ? csvOf(1, 3) : csvOf(1))
    await expect(calibrate(makePorts(), '--runs', '3', '--duration', '10s')).rejects.toThrow(
      'Only 2 of 3 runs can be used, and calibration needs 3'
    )
  })

  test('after an error no further run is started', async () => {
    service.faults.push((seen, response) => {
      const isSecond = seen.method === 'POST' && seen.path === '/api/runs' && service.runList.length > 0
      if (isSecond) response.writeHead(422).end('{"error":"no credit left"}')
      return isSecond
    })
    await expect(calibrate(makePorts(), '--runs', '5')).rejects.toThrow('no credit left')
    expect(created()).toBe(2)
  })

  test('Ctrl-C stops the run, starts no other, and leaves nothing', async () => {
    service.statuses = ['running']
    const ports = makePorts()
    const ending = calibrate(ports, '--runs', '3')
    while (!ports.screen.out.text.includes('has been running'))
      await new Promise((resolve) => setTimeout(resolve, 10))
    ports.cancellation.abort(new CancelledError('SIGINT'))
    expect(await ending).toBe(130)
    expect(ports.screen.out.text).toContain('Cancelled in run 1 of 3: nothing was calibrated.')
    expect(created()).toBe(1)
    expect(service.runList.map(({ statuses }) => statuses.at(-1))).not.toContain('running')
  })

  test.each([
    { args: ['--runs', '2'], words: '--runs: "2" is invalid; expected a whole number from 3 to 50' },
    { args: ['--runs', '1e1'], words: '--runs: "1e1" is invalid' },
    { args: ['--config', 'detached.yml'], words: 'wait: false leaves runs behind' },
    { args: ['--output', 'used'], words: 'of an earlier run' }
  ])('$args is refused before anything is sent', async ({ args, words }) => {
    writeFileSync(join(workspace, 'detached.yml'), 'wait: false\n')
    const folder = join(workspace, 'used', 'run-1')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'verdict.json'), '{}')
    const given = ['--base-url', service.url, '--grids', GRIDS, '--files', 'plan.jmx']
    await expect(runCommandLine(['calibrate', ...given, ...args], makePorts())).rejects.toThrow(words)
    expect(service.seen).toEqual([])
  })

  test('an existing run cannot be calibrated', async () => {
    writeFileSync(join(workspace, 'existing.yml'), 'run-id: run00000001\n')
    const args = ['calibrate', '--base-url', service.url, '--config', 'existing.yml']
    await expect(runCommandLine(args, makePorts())).rejects.toThrow('run-id names a run that exists')
    expect(service.seen).toEqual([])
  })
})
