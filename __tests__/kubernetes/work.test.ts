import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/contract/clock.js'
import { type NodeCommand, NodeError } from '../../src/service/nodes/load-node.js'
import { createPodNode, type PodNode, type PodNodeParts } from '../../src/service/nodes/pods/pod-place.js'
import { openWorkPods, withCuts, type WorkPods } from '../support/kubernetes/work-pods.js'
import { removeFolder } from '../support/remove-folder.js'

const { KUBECONFIG, LOADGATE_REQUIRE_KUBERNETES } = process.env
const isSkipped = KUBECONFIG === undefined && LOADGATE_REQUIRE_KUBERNETES === undefined
const describeWithCluster = isSkipped ? describe.skip : describe

const MB = 1 << 20
const never = new AbortController().signal

describeWithCluster('work in real pods', () => {
  let pods: WorkPods
  let folder: string
  beforeAll(async () => {
    pods = await openWorkPods()
    folder = mkdtempSync(join(tmpdir(), 'work-'))
  })
  afterAll(async () => {
    removeFolder(folder)
    await pods.close()
  })

  const nodeOf = (pod: string, parts: Partial<PodNodeParts> = {}): PodNode =>
    createPodNode({
      ...{ cluster: pods.cluster, pod, nodeName: 'localhost', image: 'jmeter', memoryBytes: undefined },
      ...{ lost: never, whyLost: () => Promise.resolve(undefined), found: new Map() },
      ...{ clock: systemClock, log: () => undefined },
      ...parts
    })
  const samplesOf = (name: string): string => join(folder, `${name}.csv`)
  const commandOf = (
    node: PodNode,
    name: string,
    script: string,
    more: Partial<NodeCommand> = {}
  ): NodeCommand => ({
    ...{ id: `work-${name}`, file: '/bin/sh', cwd: node.pathOf(folder), env: node.env },
    args: ['-c', script, 'sh', node.pathOf(samplesOf(name))],
    ...{ onLine: () => undefined, brings: [], follows: [samplesOf(name)], collects: [] },
    ...more
  })

  test('two pods start together and give every row, although streams are cut', async () => {
    const names = await Promise.all([pods.start('rows-0'), pods.start('rows-1')])
    let seed = 7
    let execs = 0
    const cluster = withCuts(pods.cluster, () => {
      seed = (seed * 48_271) % 2_147_483_647
      return ++execs > 20 ? undefined : 1 + (seed % 40_000)
    })
    let ready = 0
    let open!: () => void
    const gate = new Promise<void>((resolve) => (open = resolve))
    const whenReady = (): Promise<void> => {
      if (++ready === names.length) open()
      return gate
    }
    const script = `
      i=0
      while [ $i -lt 30000 ]; do
        echo "row $i" ; i=$((i + 1))
        case $i in *0000) sleep 0.3 ;; esac
      done >"$1"
      echo done; (sleep 60 &) `
    const nodes = names.map((pod) => nodeOf(pod, { cluster }))
    const lines: string[] = []
    const exits = await Promise.all(
      nodes.map((node, index) =>
        node.run(
          commandOf(node, names[index]!, script, { whenReady, onLine: (line) => lines.push(line) }),
          never
        )
      )
    )
    expect(exits).toEqual(names.map(() => ({ code: 0, signal: null })))
    const expected = Array.from({ length: 30_000 }, (_, index) => `row ${index}\n`).join('')
    for (const name of names) expect(readFileSync(samplesOf(name), 'utf8')).toBe(expected)
    expect(lines).toEqual(['done', 'done'])
    expect(cluster.cuts).toBeGreaterThan(0)
    const facts = nodes.map((node) => node.facts())
    // Pods have this machine's clock; what is measured of it may be off by what a call takes.
    expect(Math.max(...facts.map(({ clockOffsetMs }) => Math.abs(clockOffsetMs)))).toBeLessThan(100)
    expect(Math.abs(facts[0]!.startedMs! - facts[1]!.startedMs!)).toBeLessThan(2000)
    expect(nodes.flatMap((node) => node.doubts())).toEqual([])
    // What a tool leaves running ends with it.
    const left = { here: () => Promise.reject(new Error()), inImage: (image: Shell) => image.ask(LIST) }
    expect((await nodes[0]!.find(left)).lines.filter((line) => line.startsWith('sleep 60'))).toEqual([])
  })

  test('200 MB go in and 300 MB come out, and hardly anything is in memory', async () => {
    const pod = await pods.start('large')
    const data = join(folder, 'data.bin')
    const chunk = Buffer.alloc(MB)
    for (let at = 0; at < chunk.length; at++) chunk[at] = (at * 31) % 251
    for (let count = 0; count < 200; count++) writeFileSync(data, chunk, { flag: 'a' })
    const node = nodeOf(pod)
    let highest = 0
    const before = process.memoryUsage().rss
    const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 50)
    const script = `cat "$2" >"$1"; head -c ${100 * MB} "$2" >>"$1"`
    const command = commandOf(node, 'large', script, { brings: [data] })
    const exit = await node.run({ ...command, args: [...command.args, node.pathOf(data)] }, never)
    clearInterval(timer)
    expect(exit).toEqual({ code: 0, signal: null })
    expect(statSync(samplesOf('large')).size).toBe(300 * MB)
    const expected = createHash('sha256')
    for (let count = 0; count < 300; count++) expected.update(chunk)
    const arrived = createHash('sha256')
    for await (const bytes of createReadStream(samplesOf('large'))) arrived.update(bytes as Buffer)
    expect(arrived.digest('hex')).toBe(expected.digest('hex'))
    expect((highest - before) / MB).toBeLessThan(150)
  })

  test('a stop ends the tool, and its last rows arrive', async () => {
    const pod = await pods.start('stop')
    const node = nodeOf(pod)
    const stop = new AbortController()
    const script = `trap 'echo last >>"$1"; exit 9' TERM; echo first >"$1"; echo up; while :; do sleep 0.1; done`
    const command = commandOf(node, 'stop', script, { onLine: () => stop.abort(new Error('stopped')) })
    expect(await node.run(command, stop.signal)).toEqual({ code: 9, signal: null })
    expect(readFileSync(samplesOf('stop'), 'utf8')).toBe('first\nlast\n')
  })

  test('a pod that is deleted is lost; what arrived stays', async () => {
    const pod = await pods.start('deleted')
    const whyLost = async (): Promise<NodeError | undefined> => {
      const found = await pods.cluster.request('GET', `${pods.path}/${pod}`).catch(() => undefined)
      return found === undefined ? new NodeError('The pod was deleted.') : undefined
    }
    const node = nodeOf(pod, { whyLost })
    const running = node.run(commandOf(node, pod, 'echo row >"$1"; sleep 600'), never)
    running.catch(() => undefined)
    while (!existsSync(samplesOf(pod))) await sleep(50)
    await pods.cluster.request('DELETE', `${pods.path}/${pod}`)
    await expect(running).rejects.toThrow(
      'The pod was deleted. The 4 bytes of its results that had arrived are kept.'
    )
    expect(readFileSync(samplesOf(pod), 'utf8')).toBe('row\n')
  })

  test('a tool that takes more memory than there is says so', async () => {
    const pod = await pods.start('memory', { memory: '64Mi' })
    const node = nodeOf(pod)
    const script = 'echo row >"$1"; tail /dev/zero; code=$?; [ $code -gt 128 ] && kill -KILL $$; exit $code'
    await expect(node.run(commandOf(node, pod, script), never)).rejects.toThrow(/ran out of memory|reached/)
  })

  test('a disk that is full is named in its own words', async () => {
    const pod = await pods.start('full', { sizeLimit: '8Mi' })
    const data = join(folder, 'too-much.bin')
    writeFileSync(data, Buffer.alloc(20 * MB))
    const node = nodeOf(pod)
    await expect(node.run(commandOf(node, pod, 'true', { brings: [data] }), never)).rejects.toThrow(
      /The files could not be copied into the pod full: ".*No space left on device/
    )
  })
})

type Shell = Parameters<Parameters<PodNode['find']>[0]['inImage']>[0]
const LIST = 'for file in /proc/[0-9]*/cmdline; do tr "\\0" " " <"$file"; echo; done'
