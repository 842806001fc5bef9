import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../../../src/service/nodes/kubernetes/cluster.js'
import { shellCommand, startPod } from './pod-fixture.js'

const ROWS = 60
/** How often a tail looks. */
const LOOK_MS = 250
/** A row, and a moment later the next one, as tools write them. */
const ROW_BY_ROW = `
  i=0
  while [ $i -lt ${ROWS} ]; do
    echo "row $i" >>"$1"
    i=$((i + 1))
    sleep 0.01
  done`

/** Counts the messages of the streams that follow samples. */
function counting(cluster: Cluster): { cluster: Cluster; messages: () => number } {
  let messages = 0
  return {
    messages: () => messages,
    cluster: {
      ...cluster,
      exec: (pod, command, streams, signal) => {
        const { onStdout } = streams
        const isOfSamples = streams.stdin === 'hold' && command.some((word) => word.endsWith('samples.csv'))
        const count = (bytes: Uint8Array): void | Promise<void> => {
          if (isOfSamples) messages++
          return onStdout?.(bytes)
        }
        return cluster.exec(pod, command, { ...streams, onStdout: count }, signal)
      }
    }
  }
}

test('rows that are written one by one are not sent one by one', async () => {
  const fixture = await startPod()
  try {
    const counted = counting(fixture.pods.cluster)
    const node = fixture.node({ cluster: counted.cluster })
    const startMs = performance.now()
    await node.run(shellCommand(node, fixture, ROW_BY_ROW), new AbortController().signal)
    const looks = Math.ceil((performance.now() - startMs) / LOOK_MS)
    const rows = Array.from({ length: ROWS }, (_, row) => `row ${row}\n`).join('')
    expect(readFileSync(join(fixture.folder, 'samples.csv'), 'utf8')).toBe(rows)
    expect(counted.messages()).toBeLessThanOrEqual(looks)
  } finally {
    await fixture.close()
  }
})
