import { expect, test } from '@jest/globals'
import { LeftPods } from '../../src/cli/terminal-log.js'

const EU = { kubeconfig: '/home/dev/.kube/config', context: 'load-eu', namespace: 'load' }
const US = { kubeconfig: '/home/dev/.kube/config', context: 'load-us', namespace: 'load' }

test('a process that ends at once says how to delete its pods', () => {
  const pods = new LeftPods()
  pods.note([EU, US], 'f00d')
  expect(pods.describe()).toBe(
    `pods may still be running; they end by their own deadline. Delete them with:
  kubectl delete job -n load --context load-eu -l loadgate.dev/marker=f00d
  kubectl delete job -n load --context load-us -l loadgate.dev/marker=f00d`
  )
})

test('a service whose data folder stays continues with them', () => {
  const pods = new LeftPods()
  pods.note([EU], undefined)
  expect(pods.describe()).toContain('The next `loadgate serve` with the same --data')
})

test('there is nothing to say without clusters, and after the service was closed', () => {
  const pods = new LeftPods()
  expect(pods.describe()).toBeUndefined()
  pods.note([], 'f00d')
  expect(pods.describe()).toBeUndefined()
  pods.note([EU], 'f00d')
  pods.forget()
  expect(pods.describe()).toBeUndefined()
})
