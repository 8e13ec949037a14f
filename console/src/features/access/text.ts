import { formatDollars, formatList, formatNumber } from '#console/i18n/format.ts'
import { defineText } from '#console/i18n/text.ts'
import type { AdminEntry } from './requests.ts'

export const en = {
  access: 'People and keys',
  people: 'People',
  peopleText: 'Who has a role on this agent.',
  withoutRole: {
    full: 'People without a role, and callers who are not signed in, may read, chat and change it.',
    chat: 'People without a role, and callers who are not signed in, may read and chat.',
    read: 'People without a role, and callers who are not signed in, may read.',
    none: 'People without a role, and callers who are not signed in, do not reach it.',
  },
  invitations: 'Invitations',
  agentKeys: 'Keys of the agent',
  you: '(you)',
  email: 'E-mail address',
  role: 'Role',
  since: 'Since',
  state: 'State',
  actions: 'Actions',
  actionsOf: (name: string) => `Actions for ${name}`,
  roles: { owner: 'Owner', admin: 'Admin', viewer: 'Viewer', chat: 'Chat' },
  roleHints: {
    owner: 'Owner: everything, also people and the deletion',
    admin: 'Admin: reads, chats and changes',
    viewer: 'Viewer: reads everything, changes nothing',
    chat: 'Chat: sees its own conversations alone',
  },
  budget: 'Budget',
  budgetOf: (name: string) => `Budget of ${name}`,
  budgetSaved: 'The budget counts from the next answer on.',
  noBudget: 'no limit',
  tokensAMonth: 'Tokens a month',
  tokensHint: 'Empty: no limit.',
  dollarsAMonth: 'US dollars a month',
  dollarsHint: 'Empty: no limit. It counts calls of models whose price is known.',
  save: 'Save',
  budgetShort: (tokens: string) => `${tokens} tokens`,
  add: 'Give a role',
  addAction: 'Give the role',
  addHint:
    'The role counts at once, however the person signs in with this address. To send a link, invite them instead.',
  added: (email: string, role: string) => `${email} is now: ${role}.`,
  noPeople: 'Nobody has a role here',
  noPeopleText: 'Whoever signs in by the first link becomes the owner.',
  proof: 'Address proved by',
  proofs: {
    operator: 'link of the operator',
    mail: 'mail',
    oidc: 'identity provider',
    gateway: 'identity gateway',
    dev_user: 'DEV_USER',
    none: 'not proved',
  },
  invitedBy: (email: string) => `invited by ${email}`,
  signOutAll: 'Sign out everywhere',
  signOutTitle: (email: string) => `Sign ${email} out everywhere?`,
  signOutText: 'All sessions and personal keys of the person end at once. The roles stay.',
  signedOut: 'All sessions and keys of the person have ended.',
  remove: 'Take the role away',
  removeTitle: (email: string) => `Take the role of ${email} away?`,
  removeText: 'It ends at once, with the rights of the keys that the person made for this agent.',
  invite: 'Invite',
  inviteTo: (agent: string) => `Invite to “${agent}”`,
  invitationsText: 'Yours that are still open.',
  noInvitations: 'No open invitations',
  noInvitationsText: 'An invitation is a link that gives a role. It works once, for seven days.',
  invitationSent: (email: string) => `The invitation was sent to ${email}.`,
  invitationFor: (email: string) => `Invitation for ${email}`,
  invitationText: 'Send this link to the person. It works once, for seven days, and is shown only now.',
  withdrawOf: (email: string) => `Withdraw the invitation of ${email}`,
  expires: 'Expires',
  never: 'never expires',
  keys: 'Keys',
  personalKeys: 'Your keys',
  agentKeysText: 'They reach this agent alone: for programs, widgets and editors.',
  personalKeysText: 'They act as you on all of your agents. Keep them to yourself.',
  noKeys: 'No keys yet',
  noKeysText: 'A program that calls this service names itself by a key.',
  createKey: 'Create key',
  name: 'Name',
  nameHint: 'What it is for.',
  cap: 'At most',
  capHint: 'The most that the key may do; otherwise what you may.',
  asYou: 'as you',
  onlyHere: (agent: string) => `Only for “${agent}”`,
  periods: { 7: 'in 7 days', 30: 'in 30 days', 90: 'in 90 days', 365: 'in a year', never: 'never' },
  rate: 'Requests a minute',
  rateHint: 'In place of the limits of the address that the requests come from.',
  creator: 'Made by',
  lastUsed: 'Last used',
  notUsed: 'not used yet',
  keyStates: { active: 'active', expired: 'expired', revoked: 'deleted' },
  newKey: 'New key',
  newKeyText: 'It is shown only now: copy it to where it is used.',
  rotate: 'Replace',
  rotateTitle: (name: string) => `Replace the key “${name}”`,
  overlap: 'Hours for which the old key goes on',
  overlapHint: 'Up to 24. Empty: it ends at once.',
  delete: 'Delete',
  deleteKey: (name: string) => `Delete the key “${name}”?`,
  deleteKeyText: 'It is refused at once, and what it has under way ends.',
  account: 'Your account',
  notSignedIn: 'You are not signed in',
  notSignedInText: 'Your own keys and sessions stand here once you are.',
  signIn: 'Sign in',
  signOut: 'Sign out',
  via: {
    session: 'signed in here',
    gateway: 'signed in by the gateway',
    dev_user: 'set by DEV_USER',
    key: 'by a key',
  },
  sessions: 'Sessions',
  sessionsText: 'Where you are signed in.',
  noSessions: 'No sessions',
  noSessionsText: 'You came in by another way than a sign-in of this service.',
  browser: 'Browser',
  unknown: 'unknown',
  current: 'this browser',
  endSession: (browser: string) => `End the session of ${browser}`,
  endAll: 'Sign out everywhere',
  endAllTitle: 'Sign out everywhere?',
  endAllText: 'All of your sessions end, this one too. Keys go on.',
}
export type Words = typeof en
type Role = keyof Words['roles']

export const text = defineText(en, { de: () => import('./de.ts') })

/** The field of a form that chooses one of these roles. */
export const roleField = (t: Words, roles: readonly Role[]) => ({
  type: 'string',
  title: t.role,
  enum: roles,
  enumTitles: roles.map(role => t.roleHints[role]),
})

/** The fields of a form with a monthly budget. */
export const budgetFields = (t: Words) => ({
  monthly_tokens: { type: 'integer', title: t.tokensAMonth, description: t.tokensHint, minimum: 1 },
  monthly_usd: { type: 'string', title: t.dollarsAMonth, description: t.dollarsHint, examples: ['12.50'] },
})

/** How the address of a person was proved, and who invited them. */
export function proofIn({ proved_by, invited_by }: AdminEntry, t: Words): string {
  const proof = t.proofs[(proved_by ?? 'none') as keyof Words['proofs']]
  return formatList([proof, ...(invited_by == null ? [] : [t.invitedBy(invited_by)])])
}

/** Describes a monthly budget in a few words. */
export function budgetIn(
  { monthly_tokens, monthly_usd }: { monthly_tokens?: number | null; monthly_usd?: string | null },
  t: Words,
): string {
  const bounds = [
    ...(monthly_tokens == null ? [] : [t.budgetShort(formatNumber(monthly_tokens))]),
    ...(monthly_usd == null ? [] : [formatDollars(monthly_usd)]),
  ]
  return bounds.length === 0 ? t.noBudget : formatList(bounds)
}
