import { type Static, type TSchema, Type } from 'typebox'
import { builtInRulesSchema } from '#models/tools/built-in-tools.ts'
import { mailbox } from '#platform/email-address.ts'
import { monthlyBudget } from '#platform/http/monthly-budget.ts'
import { smtpUrl } from '#platform/smtp-url.ts'

/** Allows `null`, which resets a setting to its default. */
function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}

const short = Type.String({ maxLength: 200, pattern: '\\S', description: 'Not empty.' })
/** Printable ASCII without blanks: a key with a line break or a look-alike letter fails only when it is used. */
const secret = nullable(
  Type.String({
    pattern: '^[\\x21-\\x7e]{1,4000}$',
    description: 'Printable ASCII without blanks.',
    writeOnly: true,
  }),
)

const notified = {
  telegram: Type.Optional(Type.String()),
  whatsapp: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
}

const hostPattern = '^(\\*\\.)?([\\p{L}\\p{N}][\\p{L}\\p{N}.-]*|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?$'

const dollars = Type.String({
  pattern: '^\\d{1,12}(\\.\\d{1,6})?$',
  description: 'US dollars, such as 12.50.',
})

/** Keys of services outside: sealed at rest, write-only. */
export const credentialNames = [
  'openai_api_key',
  'anthropic_api_key',
  'google_api_key',
  'openai_compatible_api_key',
  'telegram_bot_token',
  'whatsapp_access_token',
  'whatsapp_phone_number_id',
  'whatsapp_app_secret',
  'whatsapp_verify_token',
  'provider_api_key',
  'provider_webhook_secret',
  'x402_wallet_key',
  'smtp_url',
] as const
export type CredentialName = (typeof credentialNames)[number]

const credentialProperties = {
  openai_api_key: secret,
  anthropic_api_key: secret,
  google_api_key: secret,
  openai_compatible_api_key: secret,
  telegram_bot_token: secret,
  whatsapp_access_token: secret,
  whatsapp_phone_number_id: secret,
  whatsapp_app_secret: secret,
  whatsapp_verify_token: secret,
  provider_api_key: secret,
  provider_webhook_secret: secret,
  x402_wallet_key: nullable(
    Type.String({
      pattern: '^0x[0-9a-fA-F]{64}$',
      description: 'Private key of the wallet that the agent pays from: 0x and 64 hexadecimal digits.',
      writeOnly: true,
    }),
  ),
  smtp_url: nullable(
    Type.String({
      maxLength: 4000,
      pattern: smtpUrl.source,
      description: 'Such as smtps://user:password@mail.example.com:465, user and password percent-encoded.',
      writeOnly: true,
    }),
  ),
} satisfies Record<CredentialName, TSchema>

export const settingsChangesSchema = Type.Object(
  {
    llm_provider: nullable(Type.Enum(['openai', 'anthropic', 'google', 'openai-compatible', 'builtin'])),
    llm_model: nullable(short),
    llm_temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
    title_model: nullable(
      Type.String({ ...short, description: 'Model that names conversations, such as openai/gpt-5-nano.' }),
    ),
    llm_context_window: nullable(
      Type.Integer({
        minimum: 1024,
        maximum: 10_000_000,
        description: "Size of the model's context window in tokens, for question and answer together.",
      }),
    ),
    llm_tools: nullable(
      Type.Enum(['auto', 'off'], {
        description: "Whether the agent's model is offered tools. `off`: never.",
      }),
    ),
    system_prompt: nullable(Type.String({ maxLength: 100_000 })),
    llm_base_url: nullable(Type.String({ maxLength: 2000 })),
    embedding_provider: nullable(Type.Enum(['builtin', 'openai', 'openai-compatible', 'google', 'local'])),
    embedding_model: nullable(short),
    sql_tool_writes: nullable(Type.Boolean()),
    browser_tools: nullable(Type.Boolean()),
    browser_profile: nullable(
      Type.String({ pattern: '^[\\w.-]{1,64}$', description: 'The browser profile that chats use.' }),
    ),
    x402_daily_limit: nullable(dollars),
    x402_payment_limit: nullable(dollars),
    x402_approval: nullable(
      Type.Enum(['tainted', 'always', 'never'], {
        description: 'Which payments by the agent need approval.',
      }),
    ),
    issuing_approval: nullable(
      Type.Object(
        {
          mode: Type.Enum(['approve', 'decline', 'limit']),
          max_amount: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        { additionalProperties: false },
      ),
    ),
    x402_pay_to: nullable(
      Type.String({
        pattern: '^0x[0-9a-fA-F]{40}$',
        description: 'The address that receives payments to the agent.',
      }),
    ),
    phone_country: nullable(
      Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'ISO 3166 alpha-2, such as DE: where the national phone numbers of contacts belong.',
      }),
    ),
    mail_from: nullable(
      Type.String({
        maxLength: 320,
        pattern: mailbox.source,
        description: 'Sender of mail through `smtp_url`: an address, alone or as `Name <address>`.',
      }),
    ),
    channel_senders: nullable(
      Type.Enum(['contacts', 'everyone'], { description: 'Senders whose messages the agent answers.' }),
    ),
    approval_timeout: nullable(
      Type.Integer({
        minimum: 1,
        maximum: 30 * 86_400,
        description:
          'How long a turn waits for a decision on a call before it ends, in seconds. Default: 86400.',
      }),
    ),
    notify: nullable(
      Type.Object(notified, {
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
        description:
          'The contact, by its id, who is sent what waits for a person, and who may decide by that.',
      }),
    ),
    browse_hosts: nullable(
      Type.Array(Type.String({ maxLength: 260, pattern: hostPattern, description: 'Or `*.example.com`.' }), {
        maxItems: 100,
        description: 'Hosts that models may send what they like to.',
      }),
    ),
    builtin_tools: nullable(builtInRulesSchema),
    conversations_max: nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description:
          'Conversations that the agent keeps of each author, at most CONVERSATIONS_MAX; default 50.',
      }),
    ),
    ...monthlyBudget,
    ...credentialProperties,
  },
  { additionalProperties: false, minProperties: 1, examples: [{ llm_temperature: 0.5 }] },
)
export type SettingsChanges = Static<typeof settingsChangesSchema>

/** The stored settings of an agent, without those that were never set. */
export type StoredSettings = {
  [Key in Exclude<keyof SettingsChanges, CredentialName>]?: NonNullable<SettingsChanges[Key]>
}

/** The settings in responses: with the provider, model and temperature in force even if none was chosen. */
export const settingsSchema = Type.Object(
  {
    llm_provider: Type.String(),
    llm_model: Type.String(),
    title_model: Type.Optional(Type.String()),
    llm_temperature: Type.Number(),
    llm_context_window: Type.Optional(Type.Integer()),
    llm_tools: Type.Optional(Type.String()),
    system_prompt: Type.Optional(Type.String()),
    llm_base_url: Type.Optional(Type.String()),
    embedding_provider: Type.Optional(Type.String()),
    embedding_model: Type.Optional(Type.String()),
    sql_tool_writes: Type.Optional(Type.Boolean()),
    browser_tools: Type.Optional(Type.Boolean()),
    browser_profile: Type.Optional(Type.String()),
    x402_daily_limit: Type.Optional(Type.String()),
    x402_payment_limit: Type.Optional(Type.String()),
    x402_approval: Type.Optional(Type.String()),
    issuing_approval: Type.Optional(
      Type.Object({ mode: Type.String(), max_amount: Type.Optional(Type.Integer()) }),
    ),
    x402_pay_to: Type.Optional(Type.String()),
    phone_country: Type.Optional(Type.String()),
    mail_from: Type.Optional(Type.String()),
    channel_senders: Type.Optional(Type.String()),
    browse_hosts: Type.Optional(Type.Array(Type.String())),
    builtin_tools: Type.Optional(builtInRulesSchema),
    conversations_max: Type.Optional(Type.Integer()),
    monthly_tokens: Type.Optional(Type.Integer()),
    monthly_usd: Type.Optional(Type.String()),
    approval_timeout: Type.Optional(Type.Integer()),
    notify: Type.Optional(Type.Object(notified)),
  },
  { title: 'AgentSettings' },
)

const warningSchema = Type.Object({ field: Type.String(), issue: Type.String() })
export type SettingsWarning = Static<typeof warningSchema>

export const settingsAnswerSchema = Type.Object({
  settings: settingsSchema,
  credentials: Type.Record(Type.String(), Type.Boolean(), {
    description: 'The names of the credentials that are set; their values are never sent.',
  }),
  warnings: Type.Array(warningSchema, { description: 'Settings that do not work together as they are.' }),
})
