import { type Static, Type } from 'typebox'

/** Approval rules, from least to most strict. */
export const approvalRules = [false, true, 'always'] as const

export const approvalRuleSchema = Type.Union([Type.Boolean(), Type.Literal('always')], {
  description:
    'true: calls need approval while the conversation contains text from outsiders; always: each call needs it.',
})

export const approversSchema = Type.Enum(['admins', 'chat'], {
  description: 'chat: callers with the role `chat` decide on calls of their own turns, too.',
})

/** The calls of a tool that a person must approve. */
export type ApprovalRule = Static<typeof approvalRuleSchema>
