// The tests with a real cluster, the one of KUBECONFIG (scripts/cluster/up): `npm run test:kubernetes`.
import config from './jest.config.js'

export default {
  ...config,
  testMatch: ['<rootDir>/__tests__/kubernetes/**/*.test.ts'],
  testTimeout: 300_000
}
