// The tests with real Gatling, Selenium and browsers. They need more than `npm test` does, and minutes: `npm run test:tools`.
import config from './jest.config.js'

export default {
  ...config,
  testMatch: ['<rootDir>/__tests__/tools/**/*.test.ts'],
  testTimeout: 300_000
}
