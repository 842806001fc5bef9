import { jest } from '@jest/globals'

// A setting of one project: jest's `testTimeout` is one for all of them.
jest.setTimeout(300_000)
