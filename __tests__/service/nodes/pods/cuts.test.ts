import { expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeRandom } from '../../../support/data/seeded-random.js'
import type { Cut } from '../../../support/kubernetes/local-pod.js'
import { slice } from '../../../support/slice.js'
import { type PodFixture, shellCommand, startPod } from './pod-fixture.js'

const never = new AbortController().signal
const ROWS = 400
/** Some at once, some after a while, with a partial row at every pause. */
const ROW_GENERATOR = `
  echo start >>"$2"
  i=0
  while [ $i -lt ${ROWS} ]; do
    printf 'row %s,' $i >>"$1"
    case $i in *50) sleep 0.02 ;; esac
    echo "of many" >>"$1"
    echo "printed $i"
    i=$((i + 1))
  done
  cat "$3" >>"$1"
  echo finished`
const expectedLines = [...Array.from({ length: ROWS }, (_, index) => `printed ${index}`), 'finished']
const expectedRows = (): string =>
  Array.from({ length: ROWS }, (_, index) => `row ${index},of many\n`).join('')

function cutsOf(seed: number): (exec: number) => Cut | undefined {
  const random = makeRandom(seed)
  return (exec) => {
    if (exec === 0) return { of: 'stdout', afterBytes: 1 }
    const of = (['stdin', 'stdout', 'stdout', 'stderr'] as const)[Math.floor(random() * 4)] ?? 'stdout'
    const scale = [1, 100, 5_000, 50_000][Math.floor(random() * 4)] ?? 1
    const afterBytes = 1 + Math.floor(random() * scale)
    return exec < 25 && random() < 0.7 ? { of, afterBytes } : undefined
  }
}

function prepare(fixture: PodFixture): { data: string; started: string } {
  const data = join(fixture.folder, 'data.bin')
  writeFileSync(data, randomBytes(60_000))
  return { data, started: join(fixture.folder, 'starts') }
}

const seeds = (quick: number): number[] => Array.from({ length: slice(quick, 60) }, (_, seed) => seed + 1)

test.each(seeds(3))('whatever is cut, it starts once and every byte arrives: seed %i', async (seed) => {
  const fixture = await startPod({ cutOf: cutsOf(seed) })
  try {
    const node = fixture.node()
    const { data, started } = prepare(fixture)
    const lines: string[] = []
    const command = shellCommand(node, fixture, ROW_GENERATOR, {
      brings: [data],
      onLine: (line) => lines.push(line)
    })
    const args = [...command.args, started, node.pathOf(data)]
    expect(await node.run({ ...command, args }, never)).toEqual({ code: 0, signal: null })
    const expected = Buffer.concat([Buffer.from(expectedRows()), readFileSync(data)])
    expect(readFileSync(join(fixture.folder, 'samples.csv')).equals(expected)).toBe(true)
    expect(readFileSync(started, 'utf8')).toBe('start\n')
    expect(lines).toEqual(expectedLines)
    expect(fixture.pods.cuts).toBeGreaterThan(0)
  } finally {
    await fixture.close()
  }
})

test.each(seeds(3))(
  'another service continues at any moment, as if nothing had happened: seed %i',
  async (seed) => {
    const random = makeRandom(seed)
    let isFirst = true
    // The first service disappears in the middle of whatever it does.
    const lastExec = Math.floor(random() * 12)
    const cut = { of: 'stdout', afterBytes: Math.floor(random() * 3000) } as const
    const fixture = await startPod({
      cutOf: (exec) => (isFirst && exec >= lastExec ? cut : undefined)
    })
    try {
      const first = fixture.node()
      const { data, started } = prepare(fixture)
      const lines: string[] = []
      const command = shellCommand(first, fixture, ROW_GENERATOR, { brings: [data] })
      const args = [...command.args, started, first.pathOf(data)]
      const gone = new AbortController()
      const lost = fixture.node({ lost: gone.signal })
      const dying = lost.run({ ...command, args }, never)
      const died = dying.then(
        () => true,
        () => true
      )
      await Promise.race([died, sleep(30 + random() * 400)])
      gone.abort(new Error('killed'))
      await died
      isFirst = false
      const second = fixture.node()
      const onLine = (line: string): void => void lines.push(line)
      expect(await second.run({ ...command, args, onLine }, never)).toEqual({ code: 0, signal: null })
      const expected = Buffer.concat([Buffer.from(expectedRows()), readFileSync(data)])
      expect(readFileSync(join(fixture.folder, 'samples.csv')).equals(expected)).toBe(true)
      expect(readFileSync(started, 'utf8')).toBe('start\n')
      expect(lines).toEqual(expectedLines)
    } finally {
      await fixture.close()
    }
  }
)

test('a copy that failed halfway leaves nothing that could start', async () => {
  const fixture = await startPod({
    cutOf: (exec) => (exec === 1 ? { of: 'stdin', afterBytes: 30_000 } : undefined)
  })
  try {
    const node = fixture.node()
    const { data, started } = prepare(fixture)
    let wasThere = true
    const command = shellCommand(node, fixture, ROW_GENERATOR, {
      brings: [data],
      whenReady: async () => {
        wasThere = existsSync(started)
      }
    })
    const args = [...command.args, started, node.pathOf(data)]
    await node.run({ ...command, args }, never)
    expect(wasThere).toBe(false)
    expect(readFileSync(started, 'utf8')).toBe('start\n')
  } finally {
    await fixture.close()
  }
})
