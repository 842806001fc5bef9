import { afterEach, describe, expect, test } from '@jest/globals'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cluster, ExecStreams } from '../../../../src/service/nodes/kubernetes/cluster.js'
import { copyIn } from '../../../../src/service/nodes/pods/work/copy-in.js'
import { followFile } from '../../../../src/service/nodes/pods/work/follow-file.js'
import { inspectTurn } from '../../../../src/service/nodes/pods/work/inspect-turn.js'
import { type Clock, sleepBy } from '../../../../src/contract/clock.js'
import { POD_TIMINGS, PodContact } from '../../../../src/service/nodes/pods/work/pod-contact.js'
import { PodRecord, readFigures, readTurnState } from '../../../../src/service/nodes/pods/work/pod-record.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const never = new AbortController().signal

/** What a command in the pod says. */
interface Said {
  readonly code?: number
  readonly stdout?: string
  readonly stderr?: string
}

/** A pod that gives these answers, one after another; what it is sent is read first. */
function cannedPod(...answers: readonly Said[]) {
  const commands: (readonly string[])[] = []
  const sent: Buffer[] = []
  const log: string[] = []
  const exec = async (
    _pod: string,
    command: readonly string[],
    streams: ExecStreams
  ): Promise<{ code: number }> => {
    const said = answers[commands.length] ?? {}
    commands.push(command.slice(4))
    streams.onOpen?.()
    const chunks: Uint8Array[] = []
    if (typeof streams.stdin === 'object') for await (const bytes of streams.stdin) chunks.push(bytes)
    sent.push(Buffer.concat(chunks))
    if (said.stderr !== undefined) await streams.onStderr?.(Buffer.from(said.stderr))
    if (said.stdout !== undefined) await streams.onStdout?.(Buffer.from(said.stdout))
    return { code: said.code ?? 0 }
  }
  const after: Clock['after'] = (delayMs, act) => {
    // Only the short pauses before another try pass.
    const timer = delayMs < 1000 ? setImmediate(act) : undefined
    return () => clearImmediate(timer)
  }
  const contact = new PodContact({
    cluster: { exec } as unknown as Cluster,
    pod: 'node-0',
    home: '/pod',
    lost: never,
    whyLost: () => Promise.resolve(undefined),
    clock: { now: () => 1000, after, sleep: sleepBy(after) },
    timings: POD_TIMINGS,
    log: (line) => log.push(line)
  })
  return { contact, commands, sent, log }
}

describe('how far a turn is', () => {
  const inspect = (said: Said) => inspectTurn(cannedPod(said).contact, '/pod/turns/run1', never)

  test('not begun, begun, ended', async () => {
    expect(await inspect({ stdout: 'turn;;;0\n' })).toEqual({
      ...{ started: undefined, ended: undefined, lastCopy: 0 }
    })
    const begun = await inspect({ stdout: 'turn;1794778655 - - -;;7\n' })
    expect(begun).toMatchObject({ started: { atMs: 1794778655000 }, ended: undefined, lastCopy: 7 })
    const ended = await inspect({ stdout: 'turn;1794778655 - - -;143 1794778660 1 0 0 disk full;8\n' })
    expect(ended.ended).toMatchObject({ code: 143, atMs: 1794778660000, diskProblem: 'disk full' })
  })

  test('an older pod does not tell the number of its last copy', async () => {
    expect((await inspect({ stdout: 'turn' })).lastCopy).toBe(0)
  })

  test.each([
    { said: { stdout: 'missing\n' }, words: 'node-0 is not ready: "missing"; its image needs sh' },
    { said: { stdout: 'x', stderr: ' nap: not found\n' }, words: 'not ready: "nap: not found"' },
    { said: { code: 126 }, words: 'not ready: "exit code 126"' }
  ])('no turn is possible: $words', async ({ said, words }) => {
    await expect(inspect(said)).rejects.toThrow(words)
  })
})

describe('copying files into a pod', () => {
  function bring(pod: ReturnType<typeof cannedPod>, brings: readonly string[] = [], lastCopy = 0) {
    const request = {
      turn: '/pod/turns/run1',
      command: 'exec true\n',
      brings,
      folders: ['/pod/out'],
      lastCopy
    }
    return copyIn(pod.contact, request, never)
  }

  test('the archive is as long as announced, and puts each file into its place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'loadgate-canned-pod-'))
    folders.push(folder)
    writeFileSync(join(folder, 'tool.sh'), '#!/bin/sh\n')
    chmodSync(join(folder, 'tool.sh'), 0o755)
    writeFileSync(join(folder, 'empty.csv'), '')
    const pod = cannedPod({ stdout: 'copied\n' })
    expect(await bring(pod, [folder])).toBe(true)
    const [archive] = pod.sent
    expect(pod.commands[0]?.slice(0, 3)).toEqual(['/pod', '/pod/turns/run1', String(archive?.length)])
    const text = archive?.toString('latin1') ?? ''
    expect(text.match(/^chmod 700 f\d$/gm)).toHaveLength(1)
    expect(text).toMatch(/^mv -f f\d \S*empty\.csv'?$/m)
    expect(text).toContain('/pod/out')
  })

  test('a turn that runs is left alone', async () => {
    expect(await bring(cannedPod({ stdout: 'running\n' }))).toBe(false)
  })

  test.each([
    { what: 'another copy came between', cut: { stdout: 'superseded\n' } },
    { what: 'its stream was cut', cut: { code: 1, stderr: 'tar: Unexpected EOF in archive\n' } },
    { what: 'busybox was cut', cut: { code: 1, stderr: 'tar: short read\n' } }
  ])('once more with a higher number if $what', async ({ cut }) => {
    const pod = cannedPod(cut, { stdout: 'copied\n' })
    expect(await bring(pod, [], 5000)).toBe(true)
    expect(pod.commands.map((args) => args[3])).toEqual(['5001', '5002'])
    expect(pod.sent[1]?.equals(pod.sent[0] ?? Buffer.of())).toBe(true)
    expect(pod.log).toEqual([expect.stringContaining('did not arrive completely')])
  })

  test.each([
    { said: { stdout: 'busy;run0;\n' }, words: 'The pod node-0 is still busy with the work run0.' },
    {
      said: { code: 1, stderr: 'tar: f0\n  No space left\n' },
      words: 'the pod node-0: "tar: f0; No space left"'
    },
    { said: { code: 1, stdout: 'running\n' }, words: '"exit code 1"; check the disk space' },
    { said: { code: 2, stdout: 'copied\n' }, words: '"exit code 2"' },
    { said: { stdout: 'failed\n' }, words: '"exit code 0"' }
  ])('what cannot be copied is said, once: $words', async ({ said, words }) => {
    const pod = cannedPod(said)
    await expect(bring(pod)).rejects.toThrow(words)
    expect(pod.commands).toHaveLength(1)
  })
})

describe('following a file', () => {
  function makeSink() {
    const sink = {
      ...{ size: 0, isBusy: false, text: '', isCreated: false, isFinished: false },
      add: (bytes: Uint8Array): undefined => {
        sink.size += bytes.length
        sink.text += Buffer.from(bytes).toString()
      },
      finish: async (exists: boolean): Promise<void> =>
        void Object.assign(sink, { isCreated: exists, isFinished: true })
    }
    return sink
  }
  const follow = (pod: ReturnType<typeof cannedPod>, copy = makeSink()) =>
    followFile(pod.contact, { file: '/pod/samples.csv', turn: '/pod/turns/run1', copy }).then(() => copy)
  const ENDED = '1794778655 - - -;0 1794778660 - - -'

  test('to its last byte, which comes after the end is known', async () => {
    const copy = await follow(cannedPod({ stderr: `beat;${ENDED};4;1 2 3\n`, stdout: 'row\n' }))
    expect(copy).toMatchObject({ text: 'row\n', isCreated: true, isFinished: true })
  })

  test('one that the tool never wrote is not made up', async () => {
    const copy = await follow(cannedPod({ stderr: `beat;${ENDED};-\n` }))
    expect(copy).toMatchObject({ size: 0, isCreated: false, isFinished: true })
  })

  test('a command that ends too early is tried again, from the byte that is missing', async () => {
    const early = { code: 1, stdout: 'ab', stderr: 'beat\ntail: killed\nbeat;17947' }
    const pod = cannedPod(early, { code: 2 }, { stderr: `beat;${ENDED};4\n`, stdout: 'cd' })
    expect((await follow(pod)).text).toBe('abcd')
    expect(pod.commands.map((args) => args[2])).toEqual(['1', '3', '3'])
    expect(pod.log[0]).toContain('The command that follows /pod/samples.csv exited with 1: "tail: killed".')
  })

  test('what the tool prints comes between the reports, cut anywhere, and is continued where it was cut', async () => {
    const output = makeSink()
    const pod = cannedPod(
      { stderr: 'beat;1794778655 - - -;;-\noutput;8\nbeat;7\nabeat;1794778655 - - -;;-\noutput;9\nb' },
      { stderr: `output;9\nc;\nodd\nd\nbeat;${ENDED};4\n`, stdout: 'row\n' }
    )
    await followFile(pod.contact, { file: '/f', turn: '/t', copy: makeSink(), output })
    expect(output.text).toBe('beat;7\nabc;\nodd\nd\n')
    expect(pod.commands.map((args) => args[3])).toEqual(['1', '10'])
  })

  test('the states are told as they come', async () => {
    const codes: (number | undefined)[] = []
    const pod = cannedPod({ stderr: `beat;1794778655 - - -;;-;1 2 3\nbeat;${ENDED};0;\n` })
    const onState = (state: ReturnType<typeof readTurnState>): void => void codes.push(state.ended?.code)
    await followFile(pod.contact, { file: '/f', turn: '/t', copy: makeSink(), onState })
    expect(codes).toEqual([undefined, 0])
  })
})

describe('what is learned of a pod', () => {
  const record = (): PodRecord => new PodRecord('node-0', 'machine-7')
  const STARTED = '1794778655000000000 100 0 1'

  test('nothing yet', () => {
    const empty = record()
    expect(empty.facts()).toEqual({ startedMs: null, endedMs: null, throttled: null, clockOffsetMs: 0 })
    expect(empty).toMatchObject({ exitCode: undefined, diskProblem: '', oomKills: 0 })
    expect(empty.doubts()).toEqual([])
  })

  test('its times are those of this machine', () => {
    const ended = record()
    ended.noteClock({ offsetMs: 2000, errorMs: 1 })
    ended.noteState(readTurnState(STARTED, '0 1794778665000000000 200 25 1 no space left'))
    expect(ended.facts()).toEqual({
      ...{ startedMs: 1794778653000, endedMs: 1794778663000, throttled: 0.25, clockOffsetMs: 2000 }
    })
    expect(ended).toMatchObject({ exitCode: 0, diskProblem: 'no space left', oomKills: 0 })
    expect(ended.doubts()).toEqual([expect.stringContaining('node-0 is 2000 ms ahead')])
  })

  test('a clock that is behind, or moved', () => {
    const behind = record()
    behind.noteClock({ offsetMs: -1500, errorMs: 1 })
    expect(behind.doubts()).toEqual([
      expect.stringMatching(/1500 ms behind.*synchronize the clock of the machine machine-7/)
    ])
    const moved = record()
    moved.noteClock({ offsetMs: -800, errorMs: 1 })
    moved.noteClock({ offsetMs: 800, errorMs: 1 })
    expect(moved.doubts()).toEqual([expect.stringContaining('moved by 1600 ms during the run')])
  })

  test('figures count until there are newer ones, and those of the end for good', () => {
    const working = record()
    const state = readTurnState(STARTED, '')
    working.noteState(state)
    expect(working.facts().throttled).toBeNull()
    working.noteState(state, readFigures(['200', '50', '2']))
    working.noteState(state)
    expect(working.facts().throttled).toBe(0.5)
    expect(working.doubts()).toEqual([expect.stringContaining('killed 1 process because memory ran out')])
    working.noteState(readTurnState(STARTED, '137 1794778665000000000 300 20 4'), readFigures([]))
    expect(working.facts().throttled).toBe(0.1)
    expect(working.doubts()).toEqual([expect.stringContaining('killed 3 processes because memory ran out')])
  })

  test('a control group that says nothing is no doubt', () => {
    const silent = record()
    silent.noteState(readTurnState('1794778655 - - -', '0 1794778665 1 1 9'))
    expect(silent.oomKills).toBe(0)
    expect(silent.facts().throttled).toBeNull()
  })
})
