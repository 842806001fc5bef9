import { expect, test } from '@jest/globals'
import { describeLeftPods } from '../../src/cli/terminal-log.js'

const EU = { kubeconfig: '/home/dev/.kube/config', context: 'load-eu', namespace: 'load' }
const US = { kubeconfig: '/home/dev/.kube/config', context: 'load-us', namespace: 'load' }

test('a process that ends at once says how to delete its pods', () => {
  expect(describeLeftPods([EU, US], 'f00d')).toBe(
    `pods may still be running; they end by their own deadline. Delete them with:
  kubectl delete job -n load --context load-eu -l loadgate.dev/marker=f00d
  kubectl delete job -n load --context load-us -l loadgate.dev/marker=f00d`
  )
})

test('a service whose data folder stays continues with them', () => {
  expect(describeLeftPods([EU], undefined)).toContain('The next `loadgate serve` with the same --data')
})

test('there is nothing to say without clusters', () => {
  expect(describeLeftPods([], 'f00d')).toBeUndefined()
})
