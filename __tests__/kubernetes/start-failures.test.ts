import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { describeWithCluster, type PlaceKeys, PodStage } from '../support/kubernetes/stage.js'

let stage: PodStage
beforeEach(() => {
  stage = new PodStage()
})
afterEach(() => stage.close())

/** Pods that never run, in the cluster's own words. */
async function failToStart(keys: PlaceKeys = {}): Promise<string> {
  const regions = stage.regions({ 'start-timeout': '15s', ...keys })
  const result = await stage.result(stage.startGate({ regions }))
  expect(result).toMatchObject({ code: 2, samples: 0 })
  expect(result.verdict).not.toBe('passed')
  expect(stage.target.hits()).toBe(0)
  expect(await stage.leftBehind()).toEqual([])
  return result.text
}

describeWithCluster('pods that do not start', () => {
  test('for want of an image', async () => {
    await stage.start()
    const said = await failToStart({ image: 'localhost/loadgate/no-such-image:1' })
    expect(said).toContain('ErrImageNeverPull')
    expect(said).toContain('localhost/loadgate/no-such-image:1')
  })

  test('by a quota', async () => {
    await stage.start()
    await stage.api.request('POST', `/api/v1/namespaces/${stage.namespace}/resourcequotas`, {
      metadata: { name: 'none' },
      spec: { hard: { pods: '0' } }
    })
    expect(await failToStart()).toMatch(
      /exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0/
    )
  })

  test('by the security rules of the namespace', async () => {
    await stage.start({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    expect(await failToStart({ 'host-network': true })).toMatch(/violates PodSecurity "restricted:latest"/)
  })

  test('for want of a machine with the labels', async () => {
    await stage.start()
    expect(await failToStart({ 'node-selector': { pool: 'no-such-pool' } })).toMatch(
      /Unschedulable|didn't match Pod's node affinity\/selector/
    )
  })

  test('for a namespace that does not exist: before anything is created', async () => {
    await stage.start()
    const result = await stage.result(
      stage.startGate({ regions: stage.regions({ namespace: 'loadgate-no-such-namespace' }) })
    )
    expect(result.code).toBe(2)
    expect(result.text).toContain('loadgate-no-such-namespace')
  })
})
