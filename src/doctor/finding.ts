/** A fault of a set-up. */
export interface Finding {
  /** `stranger` if people without a role could change something; `risk` if only reading, cost or storage is affected. */
  level: 'stranger' | 'risk'
  /** The fault, as a sentence. */
  problem: string
  /** The remedy, as a sentence. */
  change: string
}

/** Returns the findings whose condition holds. */
export function holding(rules: readonly [holds: boolean, ...Parameters<typeof finding>][]): Finding[] {
  return rules.filter(([holds]) => holds).map(([, ...given]) => finding(...given))
}

function finding(level: Finding['level'], problem: string, change: string): Finding {
  return { level, problem, change }
}
