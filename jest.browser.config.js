// The report's and the service's pages in Chromium, with keyboard and axe: `npm run test:browser`.
import config from './jest.config.js'

export default {
  ...config,
  testMatch: ['<rootDir>/__tests__/browser/**/*.test.ts']
}
