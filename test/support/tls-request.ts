/** A request over TLS with a client certificate, which `fetch` cannot present. */
import { Agent, type AgentOptions, request } from 'node:https';
import type { Answer } from './http.ts';

/** `by`: an agent that stays open, or the options of a new connection. */
export async function askOverTls(url: string, by: Agent | AgentOptions): Promise<Answer> {
  const agent = by instanceof Agent ? by : new Agent(by);
  try {
    return await new Promise((resolve, reject) => {
      const sent = request(url, { agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: new Headers(response.headers as Record<string, string>),
            body: JSON.parse(text),
          }),
        );
      });
      sent.on('error', reject).end();
    });
  } finally {
    if (agent !== by) agent.destroy();
  }
}
