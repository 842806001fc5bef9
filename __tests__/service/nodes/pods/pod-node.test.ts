import { afterEach, describe, expect, test } from '@jest/globals'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, ClusterError } from '../../../../src/service/nodes/kubernetes/cluster.js'
import { NodeError } from '../../../../src/service/nodes/load-node.js'
import { type Clock, sleepBy, systemClock } from '../../../../src/contract/clock.js'
import { POD_TIMINGS } from '../../../../src/service/nodes/pods/work/pod-contact.js'
import { type PodFixture, shellCommand, startPod } from './pod-fixture.js'

let fixture: PodFixture
afterEach(() => fixture.close())

const never = new AbortController().signal
const samplesOf = ({ folder }: PodFixture): string => readFileSync(join(folder, 'samples.csv'), 'utf8')

describe('a command in a pod', () => {
  test('gets its files, whatever their names, and gives back its own', async () => {
    fixture = await startPod()
    const data = join(fixture.folder, 'data')
    const long = `${'long '.repeat(45)}name.csv`
    const names = ['plain.csv', `it's "odd" \\ $HOME\nand two lines`, '-rf', ' ', 'ünï.csv', long]
    mkdirSync(join(data, 'sub', 'empty'), { recursive: true })
    for (const name of names) writeFileSync(join(data, name), `of ${name}`)
    writeFileSync(join(data, 'sub', 'tool'), '#!/bin/sh\necho tool ran\n')
    chmodSync(join(data, 'sub', 'tool'), 0o755)
    writeFileSync(join(fixture.folder, 'elsewhere'), 'linked')
    symlinkSync(join(fixture.folder, 'elsewhere'), join(data, 'link'))
    symlinkSync(data, join(data, 'sub', 'loop'))
    const node = fixture.node()
    const lines: string[] = []
    const log = join(fixture.folder, 'logs', 'tool.log')
    const command = shellCommand(
      node,
      fixture,
      'sub/tool; echo rows >"$1"; echo log >"$2"; echo "$SECRET $HOME"; cat data/link link 2>/dev/null; exit 3',
      {
        brings: [data, join(data, 'plain.csv')],
        collects: [log, join(fixture.folder, 'logs', 'absent.log')],
        cwd: node.pathOf(data),
        env: { ...node.env, SECRET: "s'3cret" },
        onLine: (line) => lines.push(line)
      }
    )
    const exit = await node.run({ ...command, args: [...command.args, node.pathOf(log)] }, never)
    expect(exit).toEqual({ code: 3, signal: null })
    expect(lines).toEqual(['tool ran', `s'3cret ${join(fixture.home, 'home')}`, 'linked'])
    expect(samplesOf(fixture)).toBe('rows\n')
    expect(readFileSync(log, 'utf8')).toBe('log\n')
    expect(existsSync(join(fixture.folder, 'logs', 'absent.log'))).toBe(false)
    for (const name of names) expect(readFileSync(node.pathOf(join(data, name)), 'utf8')).toBe(`of ${name}`)
    expect(statSync(node.pathOf(join(data, 'sub', 'empty'))).isDirectory()).toBe(true)
    expect(statSync(node.pathOf(join(data, 'plain.csv'))).mode & 0o777).toBe(0o600)
    expect(statSync(join(fixture.home, 'turns', 'work-1', 'running')).mode & 0o777).toBe(0o600)
    expect(readdirSync(fixture.home).filter((name) => name.startsWith('in.'))).toEqual([])
  })

  test('is read by whoever had opened its files before it started', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const samples = join(fixture.folder, 'samples.csv')
    writeFileSync(samples, 'of an earlier attempt')
    const opened = openSync(samples, 'a+')
    await node.run(shellCommand(node, fixture, 'echo rows >"$1"'), never)
    expect(readFileSync(opened, 'utf8')).toBe('rows\n')
    closeSync(opened)
  })

  test('starts only when it may, and not at all if it may not', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const running = join(fixture.home, 'turns', 'work-1', 'running')
    const refused = new Error('another node failed')
    const whenReady = async (): Promise<void> => {
      expect(existsSync(running)).toBe(false)
      throw refused
    }
    await expect(node.run(shellCommand(node, fixture, 'true', { whenReady }), never)).rejects.toBe(refused)
    expect(existsSync(running)).toBe(false)
  })

  test('is stopped before it started: it never starts', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const stop = new AbortController()
    const whenReady = async (): Promise<void> => stop.abort(new Error('stopped'))
    const command = shellCommand(node, fixture, 'echo rows >"$1"', { whenReady })
    await expect(node.run(command, stop.signal)).rejects.toThrow('stopped')
    expect(existsSync(node.pathOf(join(fixture.folder, 'samples.csv')))).toBe(false)
  })

  test.each([
    ['that exits by itself', 'while :; do sleep 0.1; done', { code: 5, signal: null }],
    // Its child ignores TERM.
    ['that waits for a child', 'while kill -0 $!; do wait $!; done', { code: null, signal: 'SIGKILL' }]
  ])('%s is stopped with all its processes, and everything that it wrote arrives', async (_, rest, exit) => {
    fixture = await startPod()
    const node = fixture.node()
    const stop = new AbortController()
    const script = `
      case $3 in
      *sleep*) trap 'echo last >>"$1"; kill -KILL $!; exit 5' TERM ;;
      *) trap 'echo last >>"$1"' TERM ;;
      esac
      (trap '' TERM; while :; do sleep 1; done) &
      echo $! >"$2"
      echo first >"$1"
      echo ready
      eval "$3"`
    const command = shellCommand(node, fixture, script, { onLine: () => stop.abort(new Error('stopped')) })
    const pidFile = node.pathOf(join(fixture.folder, 'pid'))
    const args = [...command.args, pidFile, rest]
    expect(await node.run({ ...command, args }, stop.signal)).toEqual(exit)
    expect(samplesOf(fixture)).toBe('first\nlast\n')
    expect(existsSync(`/proc/${readFileSync(pidFile, 'utf8').trim()}/cwd`)).toBe(false)
  })

  test('that can be killed does nothing more once it is stopped', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const stop = new AbortController()
    const script = `trap 'echo unrecorded >>"$1"; exit 5' TERM; echo first >"$1"; echo ready; while :; do sleep 0.1; done`
    const command = shellCommand(node, fixture, script, {
      canBeKilled: true,
      onLine: () => stop.abort(new Error('stopped'))
    })
    expect(await node.run(command, stop.signal)).toEqual({ code: null, signal: 'SIGKILL' })
    expect(samplesOf(fixture)).toBe('first\n')
  })

  test('ended by a signal says which', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const exit = await node.run(shellCommand(node, fixture, 'kill -USR1 $$'), never)
    expect(exit).toEqual({ code: null, signal: 'SIGUSR1' })
  })

  test('is followed by another one, whose files replace its own', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const first = join(fixture.folder, 'first.csv')
    writeFileSync(first, 'first')
    await node.run(shellCommand(node, fixture, 'echo one >"$1"', { brings: [first] }), never)
    const second = shellCommand(node, fixture, 'echo two >"$1"', { id: 'work-2' })
    expect(await node.run(second, never)).toEqual({ code: 0, signal: null })
    expect(samplesOf(fixture)).toBe('two\n')
    expect(existsSync(node.pathOf(first))).toBe(false)
    expect(readFileSync(join(fixture.home, 'turns', 'work-1', 'running'), 'utf8')).toBe('')
  })

  test('finds nothing that another run left, but what its own run did before', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const look =
      'ls -A "$HOME" "$HOME/.." | tr "\\n" " "; : >"$HOME/.of-run"; : >"$HOME/../left"; mkdir -p "$HOME/sub"'
    const seenBy = async (id: string): Promise<string> => {
      const lines: string[] = []
      const onLine = (line: string): number => lines.push(line)
      expect(await node.run(shellCommand(node, fixture, look, { id, onLine }), never)).toMatchObject({
        code: 0
      })
      return lines.join()
    }
    const first = await seenBy('aa')
    expect(first).not.toMatch(/of-run|left|sub/)
    expect(await seenBy('aa-2')).toMatch(/of-run.*sub.*left/)
    expect(await seenBy('bb')).toBe(first)
  })

  test('does not take the files of one that began meanwhile', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const other = join(fixture.home, 'turns', 'other')
    const files = join(fixture.home, 'files', 'of-other')
    // After the question whether the pod is busy, and before the copy.
    const cluster: Cluster = {
      ...fixture.pods.cluster,
      exec: (pod, command, streams, signal) => {
        if (command.some((word) => word.includes('sha256sum -c'))) {
          mkdirSync(join(other, 'running'), { recursive: true })
          writeFileSync(files, 'in use')
        }
        return fixture.pods.cluster.exec(pod, command, streams, signal)
      }
    }
    const running = fixture.node({ cluster }).run(shellCommand(node, fixture, 'true'), never)
    await expect(running).rejects.toThrow('The pod pod-1 is still busy with the work other.')
    expect(readFileSync(files, 'utf8')).toBe('in use')
  })

  test('is refused while the pod does something else', async () => {
    fixture = await startPod()
    const node = fixture.node()
    mkdirSync(join(fixture.home, 'turns', 'other', 'running'), { recursive: true })
    await expect(node.run(shellCommand(node, fixture, 'true'), never)).rejects.toThrow(
      'The pod pod-1 is still busy with the work other.'
    )
  })
})

describe('facts', () => {
  test('tell when it started by this clock, although the clock of the pod is another', async () => {
    fixture = await startPod()
    const aheadMs = 7_200_000
    const clock = { ...systemClock, now: () => Date.now() - aheadMs }
    const node = fixture.node({ clock })
    expect(node.facts()).toEqual({ startedMs: null, endedMs: null, throttled: null, clockOffsetMs: 0 })
    const beforeMs = clock.now()
    await node.run(shellCommand(node, fixture, 'true'), never)
    const { startedMs, clockOffsetMs } = node.facts()
    expect(Math.abs(clockOffsetMs - aheadMs)).toBeLessThan(1000)
    expect(startedMs).toBeGreaterThan(beforeMs - 1000)
    expect(startedMs).toBeLessThan(clock.now() + 1000)
    expect(node.doubts()).toEqual([
      expect.stringMatching(/^The clock of the pod pod-1 is 7\d+ ms ahead: .* of the machine machine-1\.$/)
    ])
  })
})

describe('a loss', () => {
  test('of the pod ends the work in the words of the cluster; what arrived stays', async () => {
    fixture = await startPod()
    const lost = new AbortController()
    const node = fixture.node({ lost: lost.signal })
    const command = shellCommand(node, fixture, 'echo row >"$1"; echo; sleep 60')
    const running = node.run(command, never)
    running.catch(() => undefined)
    while (!existsSync(join(fixture.folder, 'samples.csv'))) await sleep(10)
    lost.abort(new NodeError('The pod was evicted: "low on memory".'))
    await expect(running).rejects.toThrow(
      'The pod was evicted: "low on memory". The 4 bytes of its results that had arrived are kept.'
    )
    expect(samplesOf(fixture)).toBe('row\n')
  })

  test('is what a full disk does to the results, although the tool did not notice', async () => {
    const bin = mkdtempSync(join(tmpdir(), 'bin-'))
    const words = "head: error writing 'standard output': No space left on device"
    writeFileSync(join(bin, 'head'), `#!/bin/sh\necho "${words}" >&2\nexit 1\n`, { mode: 0o755 })
    const path = process.env.PATH
    process.env.PATH = `${bin}:${path}`
    fixture = await startPod().finally(() => (process.env.PATH = path))
    const node = fixture.node()
    await expect(node.run(shellCommand(node, fixture, 'echo row >"$1"'), never)).rejects.toThrow(
      `The disk of the pod pod-1 is full (${fixture.home}: "No space left on device"), so its results may be incomplete; ` +
        'free space on the machine, or let the plan write less. The 4 bytes of its results that had arrived are kept.'
    )
    rmSync(bin, { recursive: true })
  })

  test('that only the next question shows is one, too', async () => {
    fixture = await startPod()
    const node = fixture.node({ whyLost: () => Promise.resolve(new NodeError('The pod is gone.')) })
    fixture.pods.kill(fixture.pod)
    await expect(node.run(shellCommand(node, fixture, 'true'), never)).rejects.toThrow('The pod is gone.')
  })

  test('of the connection is one after five minutes', async () => {
    fixture = await startPod()
    let nowMs = 0
    const after: Clock['after'] = (delayMs, act) => {
      const timer = setImmediate(() => {
        nowMs += delayMs
        act()
      })
      return () => clearImmediate(timer)
    }
    const clock = { now: () => nowMs, after, sleep: sleepBy(after) }
    const timings = {
      silenceMs: 15_000,
      giveUpMs: 300_000,
      firstRetryMs: 250,
      lastRetryMs: 5_000,
      refusedMs: 30_000
    }
    const node = fixture.node({ clock, timings: { ...timings, askMs: 30_000, lastBytesMs: 10_000 } })
    fixture.pods.kill(fixture.pod)
    const running = node.run(shellCommand(node, fixture, 'true'), never)
    await expect(running).rejects.toThrow(
      'The pod pod-1 could not be reached for 5 minutes: "pods "pod-1" not found"; check the connection to the cluster.'
    )
    expect(nowMs).toBeGreaterThanOrEqual(300_000)
    expect(nowMs).toBeLessThan(310_000)
  })
})

describe('a cluster that refuses', () => {
  /** As after the permission to run commands was taken away: what is open stays so. */
  function refusing(): { cluster: Cluster; refuse: () => void } {
    const { cluster } = fixture.pods
    let isRefused = false
    const forbidden = new ClusterError('HTTP 403: pods/exec is forbidden', 403)
    return {
      cluster: {
        ...cluster,
        exec: (...args) => (isRefused ? Promise.reject(forbidden) : cluster.exec(...args))
      },
      refuse: () => (isRefused = true)
    }
  }

  test('is given up after a while, in its words', async () => {
    fixture = await startPod()
    const { cluster, refuse } = refusing()
    refuse()
    const node = fixture.node({ cluster, timings: { ...POD_TIMINGS, firstRetryMs: 1, refusedMs: 50 } })
    await expect(node.run(shellCommand(node, fixture, 'true'), never)).rejects.toThrow(
      /^The pod pod-1 could not be used any more: HTTP 403: pods\/exec is forbidden\. See whether the credentials/
    )
  })

  test('a stop: what has arrived is kept, at once', async () => {
    fixture = await startPod()
    const { cluster, refuse } = refusing()
    const node = fixture.node({ cluster })
    const stop = new AbortController()
    const running = node.run(shellCommand(node, fixture, 'echo a row >"$1"; exec sleep 600'), stop.signal)
    running.catch(() => undefined)
    const samples = join(fixture.folder, 'samples.csv')
    while (!existsSync(samples) || readFileSync(samples, 'utf8') === '') await sleep(10)
    refuse()
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow(
      /is forbidden\. See whether .* The 6 bytes of its results that had arrived are kept\.$/
    )
  })
})

describe('results', () => {
  test('of a tool whose exit code nobody knows are not taken for complete', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const ended = join(fixture.home, 'turns', 'work-1', 'ended')
    // Written by whoever: the code is not in it.
    const script = `echo rows >"$1"; echo 'lost 1 - - -' >"$2"; while :; do sleep 0.1; done`
    const command = shellCommand(node, fixture, script)
    await expect(node.run({ ...command, args: [...command.args, ended] }, never)).rejects.toThrow(
      'The pod pod-1 does not say how its tool ended'
    )
  })

  test('that the tool shortened are not used', async () => {
    fixture = await startPod()
    const node = fixture.node()
    const samples = join(fixture.folder, 'samples.csv')
    const script = `echo many bytes >"$1"; while [ ! -s "$2" ]; do sleep 0.05; done; echo few >"$1"`
    const command = shellCommand(node, fixture, script)
    const running = node.run({ ...command, args: [...command.args, samples] }, never)
    await expect(running).rejects.toThrow(/is not what the pod pod-1 has/)
  })

  test('of an earlier process that are not those of the pod are not mixed with them', async () => {
    fixture = await startPod()
    const node = fixture.node()
    await node.run(shellCommand(node, fixture, 'echo rows of this run >"$1"'), never)
    writeFileSync(join(fixture.folder, 'samples.csv'), 'other rows')
    const again = fixture.node()
    await expect(again.run(shellCommand(again, fixture, 'true'), never)).rejects.toThrow(
      /^.*samples\.csv is not what the pod pod-1 has in .*These results cannot be used\.$/
    )
    expect(samplesOf(fixture)).toBe('other rows')
  })
})

test('finds tools in the image, once for all nodes', async () => {
  fixture = await startPod()
  const found = new Map<object, Promise<unknown>>()
  let asked = 0
  const search = {
    here: () => Promise.reject(new Error('not here')),
    inImage: async (image: { ask: (script: string, args?: string[]) => Promise<unknown>; name: string }) => {
      asked++
      return [image.name, await image.ask('echo "$1 $TMPDIR"; echo words >&2; exit 2', ['a b'])]
    }
  }
  const expected = ['the image local', { code: 2, lines: ['a b /tmp', 'words'] }]
  expect(await fixture.node({ found }).find(search)).toEqual(expected)
  expect(await fixture.node({ found }).find(search)).toEqual(expected)
  expect(asked).toBe(1)
})
