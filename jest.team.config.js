// A service for a team with real gates as processes: users, queue, restarts, crashes, a full disk, a fuzz of every route. They wait
// more than they work: `npm run test:team`; with LOADGATE_ALL_SEEDS=1 in their full counts.
import config from './jest.config.js'

export default {
  ...config,
  testMatch: ['<rootDir>/__tests__/e2e/team/**/*.test.ts'],
  testTimeout: 300_000
}
