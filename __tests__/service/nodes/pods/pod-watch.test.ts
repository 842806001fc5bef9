import { expect, test } from '@jest/globals'
import type { PodDocument } from '../../../../src/service/nodes/pods/start/pod-view.js'
import { gridSelector } from '../../../../src/service/nodes/pods/start/job-manifest.js'
import { watchPods, type PodWatch } from '../../../../src/service/nodes/pods/start/pod-watch.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { FakeCluster, makeJob, makePod, MARKER, NODES } from './fake-cluster.js'

const NOT_READY = { conditions: [{ type: 'Ready', status: 'False' }] }

class Stage {
  readonly clock = new ManualClock()
  readonly cluster = new FakeCluster()
  readonly lines: string[] = []
  readonly watch: PodWatch

  constructor(pods: (PodDocument | undefined)[] = [makePod(0), makePod(1)]) {
    this.cluster.jobs = [makeJob()]
    this.cluster.pods = pods.filter((pod) => pod !== undefined)
    this.watch = watchPods({
      cluster: this.cluster,
      selector: gridSelector({ marker: MARKER, ...NODES }),
      pods,
      view: { job: this.cluster.jobs[0], pods: this.cluster.pods },
      region: 'eu',
      clock: this.clock,
      log: (line) => this.lines.push(line)
    })
  }

  /** Why each pod is lost, undefined for those that are not. */
  get losses(): (string | undefined)[] {
    return [0, 1].map((index) => (this.watch.lostOf(index).reason as Error | undefined)?.message)
  }
}

test('a pod is lost when another one has taken its place', async () => {
  const stage = new Stage()
  stage.cluster.events = [
    { involvedObject: { uid: 'pod-0' }, reason: 'TaintManagerEviction', message: 'Marking for deletion' }
  ]
  stage.cluster.pods = [makePod(0, {}, { uid: 'another' }), makePod(1)]
  await stage.clock.advance(2000)
  expect(stage.losses).toEqual([
    expect.stringMatching(
      /^Node 1 of 2 .*: the pod is gone; its last event is TaintManagerEviction: "Marking for deletion"\./
    ),
    undefined
  ])
})

test('a pod is lost when its machine is silent for a minute, and not before', async () => {
  const stage = new Stage()
  stage.cluster.events = [
    {
      involvedObject: { uid: 'pod-0' },
      type: 'Warning',
      reason: 'NodeNotReady',
      message: 'Node is not ready'
    }
  ]
  stage.cluster.pods = [makePod(0, NOT_READY), makePod(1)]
  await stage.clock.advance(50_000)
  stage.cluster.pods = [makePod(0), makePod(1)]
  await stage.clock.advance(2000)
  stage.cluster.pods = [makePod(0, NOT_READY), makePod(1)]
  await stage.clock.advance(60_000)
  expect(stage.losses).toEqual([undefined, undefined])
  await stage.clock.advance(4000)
  expect(stage.losses).toEqual([
    expect.stringMatching(
      /its machine is silent: .* for 60 s \(NodeNotReady: "Node is not ready"\)\. See what happened to the machine machine-1/
    ),
    undefined
  ])
})

test('no pod is lost while the cluster is away', async () => {
  const stage = new Stage()
  stage.cluster.isAway = true
  await stage.clock.advance(290_000)
  stage.cluster.isAway = false
  await stage.clock.advance(4000)
  expect(stage.lines).toEqual([
    expect.stringMatching(/could not be listed: .*\. The load continues; trying again\.$/),
    'Namespace load of the cluster load-eu answers again.'
  ])
  expect(stage.losses).toEqual([undefined, undefined])
})

test('a pod that is gone from the beginning is lost at once', () => {
  const stage = new Stage([makePod(0), undefined])
  expect(stage.losses).toEqual([
    undefined,
    expect.stringMatching(/^Node 2 of 2 .* was lost: the pod is gone/)
  ])
})

test('whoever asks why gets the state of now, and many share one question', async () => {
  const stage = new Stage()
  const early = stage.watch.whyLost(0)
  stage.cluster.pods = [makePod(1)]
  const later = [stage.watch.whyLost(0), stage.watch.whyLost(0), stage.watch.whyLost(1)]
  await early
  expect((await Promise.all(later)).map((error) => error?.message)).toEqual([
    expect.stringContaining('the pod is gone'),
    expect.stringContaining('the pod is gone'),
    undefined
  ])
  expect(stage.cluster.asked.filter((asked) => asked.includes('/pods?'))).toHaveLength(2)
})

test('nobody knows why while the cluster is away', async () => {
  const stage = new Stage()
  stage.cluster.isAway = true
  await expect(stage.watch.whyLost(0)).resolves.toBeUndefined()
})
