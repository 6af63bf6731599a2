import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/counts-reporter.ts'],
    testTimeout: process.env['HSTORE_SOAK'] ? 3_600_000 : 180_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
