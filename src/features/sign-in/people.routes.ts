import type { FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { Invitations } from './invitations.service.ts'
import { addressFor } from './own-page.ts'
import type { Sessions } from './sessions.ts'
import {
  createdInvitationSchema,
  invitationSchema,
  newInvitationSchema,
  sessionSchema,
} from './sign-in.schema.ts'

interface Parts {
  sessions: Sessions
  invitations: Invitations
  baseUrl: string | undefined
}

/** Registers the calls for people, which no key may make. */
export function registerPeopleRoutes(app: App, { sessions, invitations, baseUrl }: Parts): void {
  const config = { access: 'user', byKey: false } as const
  const routes = routesBelow(app, '/api', 'Sign-in')

  routes.list('/auth/sessions', {
    ...config,
    name: 'listSessions',
    summary: "List the caller's sessions",
    rows: 'sessions',
    of: sessionSchema,
    async handle({ caller, query }) {
      const { rows, meta } = await sessions.list(emailOf(caller), query)
      return { rows: rows.map(row => ({ ...row, current: row.id === caller.session?.id })), meta }
    },
  })
  routes.remove('/auth/sessions', {
    ...config,
    name: 'endSessions',
    summary: "End all of the caller's sessions",
    handle: ({ caller }) => sessions.end(emailOf(caller)),
  })
  routes.remove('/auth/sessions/:sessionId', {
    ...config,
    name: 'endSession',
    summary: "End one of the caller's sessions",
    handle: ({ caller, params }) => sessions.end(emailOf(caller), params.sessionId),
  })
  routes.create('/invitations', {
    ...config,
    name: 'createInvitation',
    summary: "Create an invitation to the caller's agents",
    description: 'Its link works once, for seven days. Only owners of an agent invite people to it.',
    body: newInvitationSchema,
    answer: createdInvitationSchema,
    audit: 'refusals' as const,
    handle: request =>
      invitations.create(request, emailOf(request.caller), addressFor(request, baseUrl), request.body),
  })
  routes.list('/invitations', {
    ...config,
    name: 'listInvitations',
    summary: "List the caller's open invitations",
    rows: 'invitations',
    of: invitationSchema,
    handle: ({ caller, query }) => invitations.list(emailOf(caller), query),
  })
  routes.remove('/invitations/:invitationId', {
    ...config,
    name: 'withdrawInvitation',
    summary: "Remove one of the caller's invitations",
    handle: ({ caller, params }) => invitations.withdraw(emailOf(caller), params.invitationId),
  })
}

/** Returns the e-mail address of the user; requests without one are refused before. */
function emailOf({ user }: FastifyRequest['caller']): string {
  return user?.email ?? ''
}
