// One operation in a process of its own: node one.mjs hstore|floor append|verify|get|open DIR N [MODE]
// Prints one line of JSON: operations, wall and CPU time of the measured part, peak memory of the process.
import { envelope } from './envelope.mjs'

const [who, name, dir, n, mode = ''] = process.argv.slice(2)
const cpuUs = []
const ops = await opsOf(who, { envelope, now })
const result = await ops[name]({ dir, n: Number(n), mode })
const cpuMs = (cpuUs.at(-1) - cpuUs[0]) / 1000
const rssMiB = Math.round(process.resourceUsage().maxRSS / 1024)
process.stdout.write(`${JSON.stringify({ ...result, cpuMs, rssMiB })}\n`)

/** What is measured asks for the time at its begin and at its end; the CPU time of all threads is noted then. */
function now() {
  const { user, system } = process.cpuUsage()
  cpuUs.push(user + system)
  return performance.now()
}

async function opsOf(who, parts) {
  if (who === 'floor') return (await import('./floor.mjs')).floorOps(parts)
  const [{ loadBuild }, { storeOps }] = await Promise.all([
    import('./build.mjs'),
    import('./store-ops.mjs'),
  ])
  return storeOps({ ...parts, ...(await loadBuild()) })
}
