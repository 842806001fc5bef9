import * as core from '@actions/core'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as step from '../../../src/gate/github/step.js'
import type { StepState } from '../../../src/gate/saved-state.js'
import { readCommands } from '../../support/step/raw-runner.js'

const NAMES = ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY', 'STATE_step', 'INPUT_POLL-INTERVAL']
const before = { ...process.env }
const exitBefore = process.exitCode
let folder: string
let written: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'step-'))
  for (const name of NAMES.slice(0, 3)) {
    process.env[name] = join(folder, name)
    writeFileSync(join(folder, name), '')
  }
  written = ''
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written += String(text)
    return true
  })
})
afterEach(() => {
  jest.restoreAllMocks()
  process.exitCode = exitBefore
  for (const name of NAMES) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, before)
  rmSync(folder, { recursive: true })
})

/** Reads a file of outputs or state as the runner does: `name=value`, or a value between delimiters. */
function readCommandFile(name: string): [string, string][] {
  const lines = readFileSync(join(folder, name), 'utf8').split('\n')
  const values: [string, string][] = []
  while (lines.length > 0) {
    const line = lines.shift() ?? ''
    const [, key, delimiter] = /^([^=]*?)<<(.*)$/.exec(line) ?? []
    if (key !== undefined) {
      const end = lines.indexOf(delimiter ?? '')
      values.push([
        key,
        lines
          .splice(0, end + 1)
          .slice(0, -1)
          .join('\n')
      ])
    } else if (line !== '') values.push([line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  }
  return values
}

function makeState(changes: Partial<StepState> = {}): StepState {
  return {
    address: 'https://service.example',
    token: 'tok',
    serviceName: 'acme',
    marker: 'loadgate-6f1d3c1e',
    runId: 'run1',
    madeGrids: ['grid1', 'grid2'],
    processGroups: [{ pid: 4711, startTime: '123456' }],
    cleanupDue: true,
    ...changes
  }
}

describe('the state of the step', () => {
  test('comes back as it was saved, the last time', () => {
    step.saveState(makeState({ runId: undefined, cleanupDue: false }))
    step.saveState(makeState({ token: 'a\nstep<<EOF\nb' }))
    const saved = readCommandFile('GITHUB_STATE')
    expect(saved.map(([name]) => name)).toEqual(['step', 'step'])
    // The runner passes on the last value of a name.
    process.env.STATE_step = saved.at(-1)![1]
    expect(step.loadState()).toEqual(makeState({ token: 'a\nstep<<EOF\nb' }))
  })

  test.each([
    ['nothing', ''],
    ['half of it', '{"address":"https://'],
    ['something else', '[]'],
    ['a number', '7'],
    ['null', 'null'],
    ['another form', '{"address":1}']
  ])('is none when it was %s', (_, text) => {
    process.env.STATE_step = text
    expect(step.loadState()).toBeUndefined()
  })

  test('is none in a job that never saved any', () => {
    expect(step.loadState()).toBeUndefined()
  })
})

describe('outputs', () => {
  test('arrive as they were set, whatever they hold', () => {
    const hostile = 'a\nverdict=passed\nb<<EOF\nEOF\n::set-output name=x::y'
    step.setOutput('summary', hostile)
    step.setOutput('verdict', 'failed')
    expect(readCommandFile('GITHUB_OUTPUT')).toEqual([
      ['summary', hostile],
      ['verdict', 'failed']
    ])
    expect(written).toBe('')
  })
})

test('an input is read by its name, trimmed', () => {
  process.env['INPUT_POLL-INTERVAL'] = ' 15s '
  expect(step.readInput('poll-interval')).toBe('15s')
  expect(step.readInput('token')).toBe('')
})

describe('a mask', () => {
  test('reaches the runner, and cannot be cut short', () => {
    step.mask('a%0Ab\nc')
    expect(written.trimEnd()).toBe('::add-mask::a%250Ab%0Ac')
  })

  test('of nothing is skipped: it would hide everything', () => {
    step.mask('')
    expect(written).toBe('')
  })
})

test('the summary lands in its file, once for each call', async () => {
  await step.writeSummary('## One\n')
  await step.writeSummary('## Two\n')
  expect(readFileSync(join(folder, 'GITHUB_STEP_SUMMARY'), 'utf8')).toBe('## One\n## Two\n')
})

test('a failing step says why, in one annotation, and ends with 1', () => {
  step.failStep('failed: p95\n::set-output name=verdict::passed ##[error]x')
  expect(process.exitCode).toBe(1)
  expect(readCommands(written).map(({ name }) => name)).toEqual(['error'])
})

describe('the occasion', () => {
  const env = {
    GITHUB_REPOSITORY: 'shop/web',
    GITHUB_REF_NAME: '12/merge',
    GITHUB_SHA: '1a2b3c4d',
    GITHUB_SERVER_URL: 'https://github.example',
    GITHUB_RUN_ID: '99'
  }

  test('is the workflow run', () => {
    expect(step.readOccasion(env)).toEqual({
      repository: 'shop/web',
      ref: '12/merge',
      commit: '1a2b3c4d',
      url: 'https://github.example/shop/web/actions/runs/99'
    })
  })

  test.each(['GITHUB_REPOSITORY', 'GITHUB_SERVER_URL', 'GITHUB_RUN_ID'])(
    'has no address without %s',
    (name) => {
      expect(step.readOccasion({ ...env, [name]: undefined }).url).toBeUndefined()
    }
  )

  test('may be nothing at all', () => {
    expect(step.readOccasion({})).toEqual({ repository: '', ref: '', commit: '', url: undefined })
  })
})

test('each step has its own folder', () => {
  const first = step.makeScratchDir({ RUNNER_TEMP: folder })
  const second = step.makeScratchDir({ RUNNER_TEMP: folder })
  expect([dirname(first), dirname(second)]).toEqual([folder, folder])
  expect(first).not.toBe(second)
  expect(existsSync(first) && existsSync(second)).toBe(true)
})

describe('the workspace', () => {
  test('is the folder that the runner names', async () => {
    expect(await step.findWorkspace({ GITHUB_WORKSPACE: folder })).toBe(folder)
    expect(await step.findWorkspace({})).toBe(process.cwd())
  })

  test.each([
    ['is empty', () => '', /^GITHUB_WORKSPACE is empty, .*; run actions\/checkout before this step/],
    [
      'is not there',
      () => join(folder, 'gone'),
      /gone \(GITHUB_WORKSPACE\) does not exist; run actions\/checkout/
    ],
    [
      'is a file',
      () => join(folder, 'GITHUB_STATE'),
      /\(GITHUB_WORKSPACE\) is not a folder; run actions\/checkout/
    ]
  ])('that %s: what to do', async (_, path, words) => {
    await expect(step.findWorkspace({ GITHUB_WORKSPACE: path() })).rejects.toThrow(words)
  })
})

describe('a place of the runner that is not as it should be: what happened, and what to do', () => {
  const FILES = ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY'] as const
  const writers = {
    GITHUB_OUTPUT: () => Promise.resolve().then(() => step.setOutput('verdict', 'passed')),
    GITHUB_STATE: () => Promise.resolve().then(() => step.saveState(makeState())),
    // The toolkit caches the path, so only a fresh instance shows what a first write does.
    GITHUB_STEP_SUMMARY: () => {
      Reflect.deleteProperty(core.summary, '_filePath')
      return step.writeSummary('## One')
    }
  }

  test.each(FILES)('%s is not set: nothing is printed in its place', async (name) => {
    Reflect.deleteProperty(process.env, name)
    await expect(writers[name]()).rejects.toThrow(
      `the runner has not set ${name}; update the runner, and do not clear the variable in the workflow`
    )
    expect(written).toBe('')
  })

  test.each(FILES)('%s is not there', async (name) => {
    rmSync(join(folder, name))
    await expect(writers[name]()).rejects.toThrow(
      new RegExp(`^ENOENT: .*\\(${name}\\) does not exist; check for a step, .* that deletes it$`)
    )
  })

  test.each(FILES)('%s is a folder', async (name) => {
    rmSync(join(folder, name))
    mkdirSync(join(folder, name))
    await expect(writers[name]()).rejects.toThrow(
      new RegExp(`^EISDIR: .*\\(${name}\\) is a folder, not a file; do not set the variable`)
    )
  })

  test('a summary that could not be written is not written with the next', async () => {
    rmSync(join(folder, 'GITHUB_STEP_SUMMARY'))
    mkdirSync(join(folder, 'GITHUB_STEP_SUMMARY'))
    await writers.GITHUB_STEP_SUMMARY().catch(() => undefined)
    rmSync(join(folder, 'GITHUB_STEP_SUMMARY'), { recursive: true })
    writeFileSync(join(folder, 'GITHUB_STEP_SUMMARY'), '')
    await writers.GITHUB_STEP_SUMMARY()
    expect(readFileSync(join(folder, 'GITHUB_STEP_SUMMARY'), 'utf8')).toBe('## One')
  })

  test.each([
    [
      'is not there',
      () => join(folder, 'gone'),
      /ENOENT: .*gone \(RUNNER_TEMP\) does not exist; check for a step/
    ],
    [
      'is a file',
      () => join(folder, 'GITHUB_STATE'),
      /ENOTDIR: .* \(RUNNER_TEMP\) is not a folder; do not set/
    ]
  ])('RUNNER_TEMP %s', (_name, path, words) => {
    const make = (): string => step.makeScratchDir({ RUNNER_TEMP: path() })
    expect(make).toThrow(words)
    expect(make).toThrow(/^Could not create a folder for the results; nothing was started: /)
  })

  test('RUNNER_TEMP is empty: the system’s own folder, not the one the step runs in', () => {
    const made = step.makeScratchDir({ RUNNER_TEMP: '' })
    expect(dirname(made)).toBe(tmpdir())
    rmSync(made, { recursive: true })
  })
})
