import { type Static, Type } from 'typebox'
import { approvalRuleSchema, approvalRules } from './approval-rule.ts'
import type { Tool } from './tool.ts'

/** Names of the tools that are part of the service. */
export const builtInTools = [
  'search_knowledge',
  'browse_url',
  'execute_sql',
  'x402_fetch',
  'browser_navigate',
  'browser_read',
  'browser_click',
  'browser_type',
  'browser_press',
  'browser_select',
  'browser_scroll',
  'browser_back',
  'browser_tabs',
  'browser_screenshot',
  'browser_ask_person',
] as const

const ruleSchema = Type.Object(
  { enabled: Type.Optional(Type.Boolean()), requires_approval: Type.Optional(approvalRuleSchema) },
  { additionalProperties: false },
)

export type BuiltInRules = Partial<Record<string, Static<typeof ruleSchema>>>

/** How an agent uses the tools of the service, by their names. */
export const builtInRulesSchema = Type.Unsafe<BuiltInRules>(
  Type.Object(Object.fromEntries(builtInTools.map(name => [name, Type.Optional(ruleSchema)])), {
    additionalProperties: false,
    description: 'Switches built-in tools off, or lets them wait for approval.',
  }),
)

/** Whether the agent uses the tool, and the stricter of the tool's own rule and the agent's. */
export function ruleOf({ name, isBuiltIn, requiresApproval = false }: Tool, rules: BuiltInRules = {}) {
  const { enabled = true, requires_approval = false } = (isBuiltIn && rules[name]) || {}
  const strictness = [requiresApproval, requires_approval].map(rule => approvalRules.indexOf(rule))
  return { isEnabled: enabled, requiresApproval: approvalRules[Math.max(...strictness)] ?? 'always' }
}
