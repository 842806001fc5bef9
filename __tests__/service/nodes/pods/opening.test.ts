import { expect, test } from '@jest/globals'
import type { Cluster, ExecStreams } from '../../../../src/service/nodes/kubernetes/cluster.js'
import { followFile, LineSink } from '../../../../src/service/nodes/pods/work/follow-file.js'
import { PodChannel } from '../../../../src/service/nodes/pods/work/pod-channel.js'
import { POD_TIMINGS, PodContact } from '../../../../src/service/nodes/pods/work/pod-contact.js'
import { ManualClock } from '../../../support/manual-clock.js'

/** Longer than a stream may be silent, or a question may take. */
const WAIT_MS = 100_000
const NEVER = new AbortController().signal

/** A cluster whose streams wait until they are opened, and then say nothing. */
function prepare(): { contact: PodContact; clock: ManualClock; lines: string[]; streams: ExecStreams[] } {
  const clock = new ManualClock()
  const lines: string[] = []
  const streams: ExecStreams[] = []
  const cluster = {
    exec: (_pod, _command, stream, signal) => {
      streams.push(stream)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
    }
  } as Pick<Cluster, 'exec'> as Cluster
  const contact = new PodContact({
    ...{ cluster, pod: 'pod-1', home: '/', lost: NEVER, whyLost: () => Promise.resolve(undefined) },
    ...{ clock, timings: POD_TIMINGS, log: (line) => lines.push(line) }
  })
  return { contact, clock, lines, streams }
}

const kinds: [name: string, begin: (contact: PodContact) => Promise<unknown>, limitMs: number][] = [
  ['a question', (contact) => contact.ask('true', []), POD_TIMINGS.askMs],
  [
    'a stream of questions',
    (contact) =>
      contact.keepTrying(NEVER, async (either) => (await PodChannel.open(contact, '/t', either)).ask('time')),
    POD_TIMINGS.silenceMs
  ],
  [
    'a followed file',
    (contact) => followFile(contact, { file: '/f', turn: '/t', copy: new LineSink(() => undefined) }, NEVER),
    // It looks five times as often.
    POD_TIMINGS.silenceMs * 1.2
  ]
]

test.each(kinds)(
  '%s may wait until its stream is open; its time counts from then',
  async (_, begin, limitMs) => {
    const { contact, clock, lines, streams } = prepare()
    void begin(contact)
    await clock.advance(WAIT_MS)
    expect([streams.length, lines]).toEqual([1, []])
    streams[0]!.onOpen!()
    await clock.advance(limitMs * 0.8)
    expect(lines).toEqual([])
    await clock.advance(limitMs * 0.3)
    expect(lines).toEqual([expect.stringMatching(/took longer|did not answer|was silent/)])
  }
)
