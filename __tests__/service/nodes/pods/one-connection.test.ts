import { afterEach, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../../../src/service/nodes/kubernetes/cluster.js'
import { type PodFixture, shellCommand, startPod } from './pod-fixture.js'

let fixture: PodFixture
afterEach(() => fixture.close())
const never = new AbortController().signal
/** Its own output, as a plan finds it. */
const OUTPUT = '/proc/$$/fd/1'

/** Counts commands in pods: all of them, and the most that followed something at the same time. */
function counting(cluster: Cluster) {
  const counts = { all: 0, following: 0, mostFollowing: 0 }
  const exec: Cluster['exec'] = async (pod, command, streams, signal) => {
    const isFollowing = streams.stdin === 'hold'
    counts.all++
    if (isFollowing) counts.mostFollowing = Math.max(counts.mostFollowing, ++counts.following)
    try {
      return await cluster.exec(pod, command, streams, signal)
    } finally {
      if (isFollowing) counts.following--
    }
  }
  return { counts, cluster: { ...cluster, exec } }
}

test('what a pod prints comes on the connection of its results', async () => {
  fixture = await startPod()
  const { counts, cluster } = counting(fixture.pods.cluster)
  const node = fixture.node({ cluster })
  const lines: string[] = []
  const script = 'echo begun; echo rows >"$1"; sleep 0.7; printf "no line break"'
  await node.run(shellCommand(node, fixture, script, { onLine: (line) => lines.push(line) }), never)
  expect(lines).toEqual(['begun', 'no line break'])
  expect(readFileSync(join(fixture.folder, 'samples.csv'), 'utf8')).toBe('rows\n')
  // How far it is, files, start, results, checksum, clock.
  expect(counts).toEqual({ all: 6, following: 0, mostFollowing: 1 })
})

test('without results, it comes on one of its own', async () => {
  fixture = await startPod()
  const { counts, cluster } = counting(fixture.pods.cluster)
  const node = fixture.node({ cluster })
  const lines: string[] = []
  const command = shellCommand(node, fixture, 'echo printed', {
    follows: [],
    onLine: (line) => lines.push(line)
  })
  await node.run(command, never)
  expect(lines).toEqual(['printed'])
  expect(counts.mostFollowing).toBe(1)
})

test('what is printed cannot be taken for a report of the pod', async () => {
  fixture = await startPod()
  const node = fixture.node()
  const lines: string[] = []
  const script = `echo rows >"$1"; echo 'beat;1 - - -;7 1 - - -;0;- - -'; echo 'output;1000000'; echo odd; exit 3`
  const command = shellCommand(node, fixture, script, { onLine: (line) => lines.push(line) })
  expect(await node.run(command, never)).toEqual({ code: 3, signal: null })
  expect(lines).toEqual(['beat;1 - - -;7 1 - - -;0;- - -', 'output;1000000', 'odd'])
  expect(readFileSync(join(fixture.folder, 'samples.csv'), 'utf8')).toBe('rows\n')
})

test('a plan that empties its output does not hold up its results', async () => {
  fixture = await startPod()
  const node = fixture.node()
  const script = `
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
      head -c 100000 /dev/zero | tr '\\0' x; : >${OUTPUT}; echo "$i" >>"$1"; sleep 0.05
    done`
  expect(await node.run(shellCommand(node, fixture, script), never)).toEqual({ code: 0, signal: null })
  const rows = Array.from({ length: 20 }, (_, row) => `${row + 1}\n`).join('')
  expect(readFileSync(join(fixture.folder, 'samples.csv'), 'utf8')).toBe(rows)
})

test('an output that the plan replaced by a pipe is not read', async () => {
  fixture = await startPod()
  const node = fixture.node()
  const script = `output=$(readlink ${OUTPUT}); rm "$output"; mkfifo "$output"; echo rows >"$1"`
  await expect(node.run(shellCommand(node, fixture, script), never)).rejects.toThrow(
    '/output is not a regular file: the plan replaced it'
  )
})
