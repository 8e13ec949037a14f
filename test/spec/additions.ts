import type { Area } from './rest-row.ts'

export interface Addition {
  /** Method and path; a last segment `*` stands for everything below. */
  route: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`
  /** The area it is built with; left out where it belongs to the server itself. */
  area?: Area
  why: string
}

/** Routes that the service has although no row of the specification asks for them. */
export const additions = [
  { route: 'GET /', why: 'A person who opens the address finds the console, or how to build it.' },
  { route: 'GET /a/*', why: 'Each view of the console has an address of its own.' },
  { route: 'GET /assets/*', why: 'The console loads its scripts, styles and fonts from here.' },
  { route: 'GET /theme.js', why: 'The console has its theme before anything is drawn.' },
  { route: 'GET /icon.svg', why: 'Browsers show it beside the title of the console.' },
  { route: 'GET /healthz', why: 'A supervisor asks whether the process is alive.' },
  { route: 'GET /readyz', why: 'A load balancer asks whether requests can be sent here.' },
  { route: 'GET /metrics', why: 'Prometheus collects figures.' },
  { route: 'GET /openapi.json', why: 'Clients are generated from the description of the API.' },
  { route: 'GET /docs', why: 'A person reads the description of the API.' },
  {
    route: 'GET /docs/*',
    why: 'The reader loads its script and the description from here, not from elsewhere.',
  },
  {
    route: 'GET /api/auth/me',
    area: 'agents',
    why: 'A console learns who its caller is and what is open to all.',
  },
  { route: 'GET /api/auth/sign-in', area: 'agents', why: 'A person is sent to the identity provider.' },
  { route: 'GET /api/auth/callback', area: 'agents', why: 'The identity provider sends them back.' },
  {
    route: 'POST /api/auth/link',
    area: 'agents',
    why: 'A person signs in by a link of the operator, or by an invitation.',
  },
  { route: 'POST /api/auth/sign-out', area: 'agents', why: 'A person signs out.' },
  { route: 'GET /api/auth/sessions', area: 'agents', why: 'A person sees where they are signed in.' },
  { route: 'DELETE /api/auth/sessions', area: 'agents', why: 'A person signs out everywhere.' },
  {
    route: 'DELETE /api/auth/sessions/{sessionId}',
    area: 'agents',
    why: 'A person ends the session of a browser that they have lost.',
  },
  { route: 'POST /api/invitations', area: 'agents', why: 'An owner invites people to agents.' },
  { route: 'GET /api/invitations', area: 'agents', why: 'They see who has not come yet.' },
  { route: 'DELETE /api/invitations/{invitationId}', area: 'agents', why: 'They withdraw an invitation.' },
  { route: 'GET /sign-in', why: 'A person signs in.' },
  {
    route: 'GET /api/agents/{id}/audit',
    area: 'agents',
    why: 'Owners and admins see who changed what.',
  },
  { route: 'GET /api/audit', area: 'agents', why: 'A person sees who changed what of their agents.' },
  {
    route: 'GET /api/agents/{id}/keys',
    area: 'agents',
    why: 'Admins see which keys an agent has, and which of them are used.',
  },
  {
    route: 'POST /api/agents/{id}/keys',
    area: 'agents',
    why: 'A script, a widget or a server calls an agent without a person.',
  },
  {
    route: 'PUT /api/agents/{id}/admins/{adminId}',
    area: 'agents',
    why: 'Owners bound what a person spends.',
  },
  {
    route: 'POST /api/agents/{id}/admins/{adminId}/sign-out',
    area: 'agents',
    why: 'Owners end the sessions and keys of a person whose browser or mailbox is in the hands of another.',
  },
  {
    route: 'PUT /api/agents/{id}/keys/{keyId}',
    area: 'agents',
    why: 'A key is renamed, and what it may do is changed.',
  },
  {
    route: 'DELETE /api/agents/{id}/keys/{keyId}',
    area: 'agents',
    why: 'A key that leaked ends at once.',
  },
  {
    route: 'POST /api/agents/{id}/keys/{keyId}/rotate',
    area: 'agents',
    why: 'A key is replaced without a moment in which none counts.',
  },
  {
    route: 'GET /api/auth/keys',
    area: 'agents',
    why: 'People see their own keys.',
  },
  {
    route: 'POST /api/auth/keys',
    area: 'agents',
    why: 'A person calls from programs of their own.',
  },
  {
    route: 'PUT /api/auth/keys/{keyId}',
    area: 'agents',
    why: 'A key is renamed, and what it may do is changed.',
  },
  {
    route: 'DELETE /api/auth/keys/{keyId}',
    area: 'agents',
    why: 'A key that leaked ends at once.',
  },
  {
    route: 'POST /api/auth/keys/{keyId}/rotate',
    area: 'agents',
    why: 'A key is replaced without a moment in which none counts.',
  },
  {
    route: 'GET /api/agents/{id}/settings',
    area: 'agents',
    why: 'What was set can be read, with what does not work together.',
  },
  {
    route: 'GET /api/agents/{id}/sources/{sourceId}/file',
    area: 'sources',
    why: 'A person opens the document that an answer cites.',
  },
  {
    route: 'PUT /api/agents/{id}/sources/{sourceId}/file',
    area: 'sources',
    why: 'A new version of a document replaces the former one, whose passages answer until then.',
  },
  {
    route: 'GET /api/agents/{id}/sources/{sourceId}/text',
    area: 'sources',
    why: 'A person sees a passage in the text around it.',
  },
  {
    route: 'GET /api/agents/{id}/attention',
    area: 'agents',
    why: 'A person sees at once all that waits for a decision.',
  },
  {
    route: 'GET /api/agents/{id}/events',
    area: 'agents',
    why: 'A page that shows an agent learns what has changed without asking again and again.',
  },
  {
    route: 'GET /api/agents/{id}/chat/approvals',
    area: 'chat',
    why: 'A person sees which calls wait for approval.',
  },
  {
    route: 'POST /api/agents/{id}/chat/approvals/{toolCallId}',
    area: 'chat',
    why: 'A call that a model may have been talked into runs once a person agrees.',
  },
  {
    route: 'POST /api/agents/{id}/chat/files',
    area: 'chat',
    why: 'A console uploads files while their message is written.',
  },
  {
    route: 'GET /api/agents/{id}/chat/files/{fileId}',
    area: 'chat',
    why: 'Readers of a conversation see its files.',
  },
  {
    route: 'DELETE /api/agents/{id}/chat/files/{fileId}',
    area: 'chat',
    why: 'A sender takes a file back.',
  },
  {
    route: 'GET /api/agents/{id}/tools/{toolId}',
    area: 'tools',
    why: 'What was created can be read by its id.',
  },
  {
    route: 'PUT /api/agents/{id}/tools/{toolId}',
    area: 'tools',
    why: 'A tool is changed, enabled and disabled.',
  },
  {
    route: 'POST /api/agents/{id}/tools/{toolId}/test',
    area: 'tools',
    why: 'A person sees what a tool answers before a model does.',
  },
  {
    route: 'GET /api/agents/{id}/tools/cluster/{clusterName}/credentials',
    area: 'tools',
    why: 'An import names what its tools have to show to the service that they call.',
  },
  {
    route: 'PUT /api/agents/{id}/tools/cluster/{clusterName}/credentials',
    area: 'tools',
    why: 'A person fills that in, once for all tools of the cluster.',
  },
  {
    route: 'POST /api/agents/{id}/contacts/{contactId}/merge',
    area: 'contacts',
    why: 'A person who was entered twice becomes one contact.',
  },
  {
    route: 'GET /api/agents/{id}/mcp/{serverId}',
    area: 'mcp',
    why: 'Whether a server can be reached is asked of one server, too.',
  },
  {
    route: 'POST /api/agents/{id}/mcp/{serverId}/approve',
    area: 'mcp',
    why: 'New and changed tools wait until a person has agreed to them.',
  },
  {
    route: 'POST /api/agents/{id}/workflows/executions/{executionId}/terminate',
    area: 'workflows',
    why: 'The status `terminated` needs a call that brings it about.',
  },
  {
    route: 'POST /api/agents/{id}/workflows/executions/{executionId}/retry',
    area: 'workflows',
    why: 'What failed goes on from there once the reason is gone.',
  },
  {
    route: 'GET /api/agents/{id}/workflows/executions/{executionId}/nodes/{nodeId}',
    area: 'workflows',
    why: 'People read the whole input and output of a node.',
  },
  {
    route: 'POST /api/agents/{id}/workflows/executions/{executionId}/nodes/{nodeId}/resume',
    area: 'workflows',
    why: 'A person approves or rejects what a node waits for.',
  },
  {
    route: 'POST /api/agents/{id}/workflows/{workflowId}/hook',
    area: 'workflows',
    why: 'A workflow is given a secret address, and a new one when that was seen by others.',
  },
  {
    route: 'DELETE /api/agents/{id}/workflows/{workflowId}/hook',
    area: 'workflows',
    why: 'The secret address is taken back.',
  },
  {
    route: 'POST /api/agents/{id}/hooks/{token}',
    area: 'workflows',
    why: 'Other systems start a workflow by its secret address.',
  },
  {
    route: 'GET /api/agents/{id}/decisions/{token}',
    area: 'chat',
    why: 'A person who was notified by mail sees what a link decides, before anything is decided.',
  },
  {
    route: 'POST /api/agents/{id}/decisions/{token}',
    area: 'chat',
    why: 'The page behind such a link decides.',
  },
  {
    route: 'POST /api/agents/{id}/schedules/{scheduleId}/run',
    area: 'schedules',
    why: 'A person tries a schedule before its time comes.',
  },
  {
    route: 'POST /api/agents/{id}/calendar/feed',
    area: 'calendar',
    why: 'A person gets the address of the feed, and voids one that others have seen.',
  },
  {
    route: 'DELETE /api/agents/{id}/calendar/feed',
    area: 'calendar',
    why: 'What was given to calendar programs can be taken back.',
  },
  {
    route: 'GET /api/agents/{id}/calendar/feed.ics',
    area: 'calendar',
    why: 'Calendar programs subscribe to an address that carries its own token.',
  },
  {
    route: 'POST /api/agents/{id}/payment-notifications',
    area: 'payments',
    why: 'Notifications that can be listed must be recordable.',
  },
  {
    route: 'GET /api/agents/{id}/x402/*',
    area: 'payments',
    why: 'An x402 resource with a path of its own is served, with a receipt, below this one.',
  },
  {
    route: 'GET /api/agents/{id}/transactions/{transactionId}',
    area: 'payments',
    why: 'One transaction can be read by its id.',
  },
  {
    route: 'POST /api/agents/{id}/transactions/{transactionId}/resolve',
    area: 'payments',
    why: 'A person says what came of a payment that nobody else knows of.',
  },
  {
    route: 'GET /api/agents/{id}/transactions/summary',
    area: 'payments',
    why: 'A person sees what came and went in a day or month.',
  },
  {
    route: 'GET /api/agents/{id}/transactions/export',
    area: 'payments',
    why: 'Bookkeepers take transactions as a file.',
  },
  {
    route: 'DELETE /api/agents/{id}/payment-methods/{methodId}',
    area: 'payments',
    why: 'What was added can be taken back.',
  },
  {
    route: 'POST /api/agents/{id}/payment-notifications/{notificationId}/match',
    area: 'payments',
    why: 'A person knows which transaction a message tells of.',
  },
  {
    route: 'POST /api/agents/{id}/payment-notifications/{notificationId}/unmatch',
    area: 'payments',
    why: 'What was matched wrongly is taken back.',
  },
  {
    route: 'POST /api/agents/{id}/payment-notifications/{notificationId}/record',
    area: 'payments',
    why: 'Money that only a message tells of becomes a transaction.',
  },
  {
    route: 'POST /api/agents/{id}/provider/refund',
    area: 'payments',
    why: 'A payment goes back, in whole or in part.',
  },
  {
    route: 'GET /api/agents/{id}/webhooks',
    area: 'webhooks',
    why: 'What was registered can be seen.',
  },
  {
    route: 'DELETE /api/agents/{id}/webhooks/{webhookId}',
    area: 'webhooks',
    why: 'What was registered can be taken back.',
  },
  {
    route: 'GET /api/agents/{id}/webhooks/{webhookId}',
    area: 'webhooks',
    why: 'One webhook can be read by its id.',
  },
  {
    route: 'PUT /api/agents/{id}/webhooks/{webhookId}',
    area: 'webhooks',
    why: 'A webhook is changed, disabled and enabled.',
  },
  {
    route: 'POST /api/agents/{id}/webhooks/{webhookId}/secret',
    area: 'webhooks',
    why: 'A secret that was seen by others is replaced.',
  },
  {
    route: 'POST /api/agents/{id}/webhooks/{webhookId}/test',
    area: 'webhooks',
    why: 'A person sees whether an address takes deliveries before anything happens.',
  },
  {
    route: 'GET /api/agents/{id}/webhooks/{webhookId}/deliveries',
    area: 'webhooks',
    why: 'A person sees what was sent, and what came of it.',
  },
  {
    route: 'POST /api/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/retry',
    area: 'webhooks',
    why: 'What failed is sent again once the receiver works.',
  },
  {
    route: 'POST /api/agents/{id}/channels/telegram/webhook',
    why: 'The first chat channel delivers messages here.',
  },
  {
    route: 'POST /api/agents/{id}/channels/whatsapp/webhook',
    why: 'The second chat channel delivers messages here.',
  },
  {
    route: 'GET /api/agents/{id}/channels/whatsapp/webhook',
    why: 'The second chat channel proves the address by a GET before it delivers.',
  },
  {
    route: 'GET /api/agents/{id}/channels',
    why: 'A person sees on which channels the agent can send, and whether it hears there.',
  },
  {
    route: 'POST /api/agents/{id}/channels/telegram/connect',
    why: 'Telegram has to be told where it delivers messages.',
  },
  {
    route: 'POST /api/agents/{id}/channels/{channel}/test',
    why: 'Whether a channel was set up rightly shows in a message that arrives.',
  },
  {
    route: 'POST /api/agents/{id}/mcp/endpoint',
    why: 'MCP clients talk to the agent and call its tools: it is an MCP server itself.',
  },
  {
    route: 'GET /api/agents/{id}/mcp/endpoint',
    why: 'MCP clients ask for a stream of news here, and go on without one when it is refused.',
  },
  {
    route: 'DELETE /api/agents/{id}/mcp/endpoint',
    why: 'MCP clients end sessions here, and are told that nothing has to be ended.',
  },
  {
    route: 'POST /api/agents/{id}/mcp/endpoint/mcp',
    why: 'Many MCP servers have an address that ends in /mcp, and people add it out of habit.',
  },
  {
    route: 'GET /api/agents/{id}/mcp/endpoint/mcp',
    why: 'The same endpoint refuses the same there.',
  },
  {
    route: 'DELETE /api/agents/{id}/mcp/endpoint/mcp',
    why: 'The same endpoint refuses the same there.',
  },
  {
    route: 'GET /api/agents/{id}/mcp/endpoint/sse',
    why: 'MCP clients that try the former transport are told which one to use.',
  },
  {
    route: 'POST /api/agents/{id}/mcp/endpoint/sse',
    why: 'The same for clients that try both transports.',
  },
  {
    route: 'GET /api/agents/{id}/browser/{sessionId}',
    area: 'browser',
    why: 'A person looks at one session, also after its end.',
  },
  {
    route: 'GET /api/agents/{id}/browser/{sessionId}/downloads/{downloadId}',
    area: 'browser',
    why: 'What a page has downloaded can be read.',
  },
  {
    route: 'GET /api/agents/{id}/browser/profiles',
    area: 'browser',
    why: 'A person sees which logins are kept.',
  },
  {
    route: 'DELETE /api/agents/{id}/browser/profiles/{profileName}',
    area: 'browser',
    why: 'A person has a login forgotten.',
  },
  {
    route: 'GET /api/agents/{id}/browser/{sessionId}/takeover',
    area: 'browser',
    why: 'A person finds what they are asked to do, and the link to do it.',
  },
  {
    route: 'POST /api/agents/{id}/browser/{sessionId}/takeover/end',
    area: 'browser',
    why: 'A program hands a session back in the name of the person.',
  },
  {
    route: 'GET /live/{sessionId}',
    area: 'browser',
    why: 'A person watches a session, and takes it over, on a page that needs nothing installed.',
  },
  {
    route: 'GET /live/assets/{name}',
    area: 'browser',
    why: 'That page loads its script and style from here, not from elsewhere.',
  },
  {
    route: 'GET /api/agents/{id}/browser/{sessionId}/recording',
    area: 'browser',
    why: 'A program reads what a session has recorded.',
  },
  { route: 'GET /replay/{sessionId}', area: 'browser', why: 'A person replays what a session has recorded.' },
  {
    route: 'GET /replay/{sessionId}/events',
    area: 'browser',
    why: 'The page of the replay reads its events.',
  },
  { route: 'GET /replay/assets/{name}', area: 'browser', why: 'What the page of the replay consists of.' },
  {
    route: 'GET /api/agents/{id}/chat/conversations/{conversationId}/turn',
    area: 'chat',
    why: 'A client that comes back learns what runs in a conversation.',
  },
  {
    route: 'GET /api/agents/{id}/chat/turns/{turnId}/events',
    area: 'chat',
    why: 'A client that comes back reads an answer from where it left.',
  },
  {
    route: 'POST /api/agents/{id}/chat/turns/{turnId}/stop',
    area: 'chat',
    why: 'A person stops an answer that they no longer want.',
  },
  {
    route: 'GET /api/agents/{id}/usage',
    area: 'agents',
    why: 'People see what an agent uses of models, and what it costs.',
  },
  {
    route: 'PUT /api/agents/{id}/chat/conversations/{conversationId}',
    area: 'chat',
    why: 'A person gives a conversation another title.',
  },
  {
    route: 'PUT /api/agents/{id}/chat/messages/{messageId}/feedback',
    area: 'chat',
    why: 'A person says whether an answer was good.',
  },
  {
    route: 'GET /api/agents/{id}/chat/conversations/{conversationId}/export',
    area: 'chat',
    why: 'A person keeps a conversation as a file.',
  },
  {
    route: 'POST /api/agents/{id}/chat/conversations/import',
    area: 'chat',
    why: 'A conversation moves to another agent or service.',
  },
  { route: 'GET /api/openai/v1/models', why: 'A client of OpenAI lists the agents that it may chat with.' },
  { route: 'GET /api/openai/v1/models/{model}', why: 'Such a client checks the model that it was set to.' },
  { route: 'POST /api/openai/v1/chat/completions', why: 'Clients of OpenAI talk with agents.' },
  { route: 'POST /api/openai/v1/responses', why: 'So do those that speak its newer API alone.' },
] as const satisfies readonly Addition[]
