/**
 * An integrator with its own sandbox during the crashes. It issues, follows changes, receives them as messages, and downloads its notes as
 * a file. The cursor gives each change once. Messages give each change at least once, with the same bytes. A file is complete.
 */
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { follow, LIFE, openReceiver, withToken } from './integrador.ts';
import { pace } from './pace.ts';
import { type Carga, SANDBOX } from './quedas-carga.ts';

const PRESTADOR = '11222333000181';
const PAUSE_MS = { nota: 500, arquivo: 3_000, olhar: 200 } as const;
/** The share of the messages that its receiver refuses. */
const REFUSED = 0.05;
const TOLD_WITHIN_MS = 600_000;

export type Integrador = {
  /** Laws that are broken at any time, even while work is under way. */
  broken(): readonly string[];
  /** Stops issuing, waits until every change is reported, and returns the broken laws. */
  brokenAtRest(): Promise<readonly string[]>;
  figures(): string;
};

export async function startIntegrador({ ask }: Pick<Carga, 'ask'>, chance: () => number): Promise<Integrador> {
  const violations: string[] = [];
  const issued: string[] = [];
  let arquivos = 0;
  let isStopped = false;
  const json = { 'Content-Type': 'application/json' };
  const made = await ask(`/${SANDBOX}/api/v1/ambientes`, { method: 'POST' });
  const { municipio } = made.body.ambiente;
  const api = `/${municipio}/api/v1`;
  const pedido = JSON.stringify({ documento: PRESTADOR, escopos: ['consultar', 'webhooks'] });
  const { token } = (await ask(`${api}/token`, { method: 'POST', headers: json, body: pedido })).body;
  const headers = withToken(token);
  const receiver = await openReceiver(() => chance() < REFUSED);
  const webhook = JSON.stringify({ url: receiver.url });
  const { body: registered } = await ask(`${api}/webhooks`, { method: 'POST', headers, body: webhook });
  receiver.know(registered.segredo);
  const follower = follow((query) => ask(`${api}/mudancas?${query}`, { headers }));

  const forever = async (ms: number, step: () => Promise<void>): Promise<void> => {
    while (!isStopped) {
      await step();
      await pace(ms * (0.5 + chance()));
    }
  };
  let number = 0;
  const issue = async (): Promise<void> => {
    number += 1;
    const key = { 'Content-Type': 'application/xml', 'Idempotency-Key': `nota-${number}` };
    const body = exampleXml({ nDPS: String(number) });
    const told = await ask(`${api}/nfse/v101`, { method: 'POST', headers: key, body });
    if (told.status === 201) issued.push(told.body.chave_acesso);
    else violations.push(`a note of the integrator: HTTP ${told.status} ${JSON.stringify(told.body)}`);
  };
  /** The keys in a file of all notes: the first field of each line. */
  const fetchArquivo = async (): Promise<readonly string[]> => {
    const sent = { method: 'POST', headers, body: JSON.stringify({ formato: 'csv' }) };
    const asked = await ask(`${api}/exportacoes`, sent);
    if (asked.status !== 201) throw new Error(`a file: HTTP ${asked.status} ${JSON.stringify(asked.body)}`);
    const one = `${api}/exportacoes/${asked.body.exportacao.id}`;
    for (;;) {
      const { exportacao } = (await ask(one, { headers })).body;
      if (exportacao.estado === 'falhou') throw new Error(`a file: ${exportacao.motivo}`);
      if (exportacao.estado === 'pronta') break;
      await pace(PAUSE_MS.olhar);
    }
    const { body: text } = await ask(`${one}/arquivo`, { headers });
    arquivos += 1;
    return String(text)
      .split('\n')
      .flatMap((line) => /(?<!\d)\d{50}(?!\d)/.exec(line)?.[0] ?? []);
  };
  const authorised = (): ReadonlySet<string> =>
    new Set(follower.told.flatMap(({ tipo, chave_acesso }) => (tipo === 'nota.autorizada' ? [chave_acesso] : [])));
  const compareArquivo = async (): Promise<void> => {
    const before = authorised();
    const chaves = await fetchArquivo();
    if (new Set(chaves).size < chaves.length) violations.push('a file has a note twice');
    const missing = [...before].filter((chave) => !chaves.includes(chave));
    if (missing.length > 0) violations.push(`a file lacks ${missing.length} authorised notes, as ${missing[0]}`);
  };
  const ended = Promise.all([forever(PAUSE_MS.nota, issue), forever(PAUSE_MS.arquivo, compareArquivo)]).catch(
    (error: unknown) => violations.push(`the integrator ended: ${error}`),
  );

  const broken = (): readonly string[] => {
    const found = [...violations, ...follower.problems, ...receiver.problems];
    const ids = follower.told.map(({ id }) => id);
    if (new Set(ids).size < ids.length) found.push('a change was told twice to who follows');
    const corpos = new Map<string, string>();
    for (const { id, corpo, data } of receiver.received) {
      if (id !== `${municipio}.${data.id}`) found.push(`the message of ${data.id} has the id ${id}`);
      if ((corpos.get(id) ?? corpo) !== corpo) found.push(`${id} was told in other bytes`);
      corpos.set(id, corpo);
    }
    return found;
  };
  const wholeLives = (who: string, told: readonly { tipo: string; chave_acesso: string }[]): readonly string[] => {
    const lives = Map.groupBy(told, ({ chave_acesso }) => chave_acesso);
    const lacking = issued.flatMap((chave) => {
      const life = (lives.get(chave) ?? []).map(({ tipo }) => tipo).join();
      return life === LIFE.join() ? [] : [`${who} was told of ${chave}: ${life || 'nothing'}`];
    });
    return [...lacking, ...(lives.size > issued.length ? [`${who} was told of notes that nobody was answered`] : [])];
  };
  /** Each change once, in the order of its first arrival. */
  const received = () =>
    [...new Map(receiver.received.toReversed().map(({ data }) => [data.id, data])).values()].reverse();
  return {
    broken,
    figures: () =>
      `${issued.length} notas no ambiente próprio, ${follower.told.length} mudanças, ${receiver.received.length} avisos, ${arquivos} arquivos`,
    brokenAtRest: async () => {
      isStopped = true;
      await ended;
      const whole = LIFE.length * issued.length;
      for (let waited = 0; waited < TOLD_WITHIN_MS; waited += PAUSE_MS.olhar) {
        if (follower.told.length >= whole && received().length >= whole && authorised().size >= issued.length) break;
        await pace(PAUSE_MS.olhar);
      }
      await compareArquivo();
      await follower.stop();
      return [...broken(), ...wholeLives('who follows', follower.told), ...wholeLives('who is told', received())];
    },
  };
}
