// Preloaded into a measured process: at its end it writes its peak memory in KiB, and the milliseconds of CPU that all its
// threads took, to the file that HSTORE_PEAK names.
// Linux keeps the peak of the process that forked in `maxRSS`, so what the kernel says of this program alone is read.
import { readFileSync, writeFileSync } from 'node:fs'

process.on('exit', () => {
  const file = process.env['HSTORE_PEAK']
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  const cpuMs = Math.round((userCPUTime + systemCPUTime) / 1000)
  if (file) writeFileSync(file, `${peakKib() ?? maxRSS} ${cpuMs}`)
})

function peakKib() {
  try {
    return /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]
  } catch {
    return undefined
  }
}
