/** Starts to measure; the returned function tells how much CPU time this process has taken since, however busy the machine is. */
export function startCpuTimer(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
}
