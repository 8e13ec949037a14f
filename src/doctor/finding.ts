/** A fault of a set-up. */
export interface Finding {
  /** `stranger` if people without a role could change something; `risk` if only what is seen, paid or kept is at stake. */
  level: 'stranger' | 'risk'
  /** What is wrong, as a sentence. */
  problem: string
  /** What to do about it, as a sentence. */
  change: string
}

/** The findings whose condition holds. */
export function holding(rules: readonly [holds: boolean, ...Parameters<typeof finding>][]): Finding[] {
  return rules.filter(([holds]) => holds).map(([, ...given]) => finding(...given))
}

function finding(level: Finding['level'], problem: string, change: string): Finding {
  return { level, problem, change }
}
