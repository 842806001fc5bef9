import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { describeWithCluster, PodStage } from '../support/kubernetes/stage.js'
import type { GateResult } from '../support/kubernetes/stage.js'

let stage: PodStage
beforeEach(async () => {
  stage = await new PodStage().start()
})
afterEach(() => stage.close())

/** One of two pods is lost in the middle; what arrived is kept, and the verdict is not green. */
async function loseOneOfTwo(lose: (pod: string) => Promise<unknown>): Promise<GateResult & { pod: string }> {
  const grids = stage.grids({ region: 'here', instance_quantity: 2 })
  const gate = stage.startGate({ grids, durationSec: 15 })
  const [first] = await stage.atWork(2, 60)
  const pod = first!.metadata.name
  await stage.rowsArrive()
  await lose(pod)
  const result = await stage.result(gate)
  expect([result.code, result.verdict]).toEqual([2, 'inconclusive'])
  expect(result.text).toContain(pod)
  expect(result.samples).toBeGreaterThan(0)
  expect(result.samples).toBeLessThanOrEqual(stage.target.hits())
  expect(await stage.leftBehind()).toEqual([])
  return { ...result, pod }
}

describeWithCluster('pods that are lost in the middle', () => {
  test('deleted', async () => {
    await loseOneOfTwo((pod) =>
      stage.api.request('DELETE', `/api/v1/namespaces/${stage.namespace}/pods/${pod}`)
    )
  })

  test('evicted through the API', async () => {
    await loseOneOfTwo((pod) =>
      stage.api.request('POST', `/api/v1/namespaces/${stage.namespace}/pods/${pod}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod, namespace: stage.namespace }
      })
    )
  })

  test('out of memory', async () => {
    const regions = stage.regions({ 'instance-types': { small: { cpu: '500m', memory: '64Mi' } } })
    const result = await stage.result(stage.startGate({ regions, durationSec: 15 }))
    expect([result.code, result.verdict]).toEqual([2, 'inconclusive'])
    expect(result.text).toMatch(/OOMKilled|out of memory/i)
    expect(await stage.leftBehind()).toEqual([])
  })
})
