import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const chatSearch = { conversation: 'text', write: 'number' } as const

const feature: Feature = {
  views: [
    defineView({
      path: 'chat',
      search: chatSearch,
      title: { en: 'Chat', de: 'Chat' },
      // Viewers read, and the role `chat` sees its own conversations: the view checks each ability.
      needs: 'any',
      load: () => import('./chat.tsx'),
      rail: { group: 'talk', order: 1, icon: 'chat', key: 'c' },
    }),
  ],
  commands: [
    {
      id: 'new-conversation',
      title: { en: 'Begin a conversation', de: 'Gespräch beginnen' },
      icon: 'plus',
      needs: 'talk',
      to: 'chat?write=1',
    },
  ],
  parts: { approval: () => import('./approval.tsx') },
}
export default feature
