/** The knowledge of the ADN: the last answer and the last question without one, with their moments. An old answer proves nothing. */
import type { CircuitoOuvido } from '../../base/book/circuitos.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../fiscal/moment.ts';

/** `responde` undefined: it is not known, or not used. `estado`: in a word or two. */
export type AdnHoje = { readonly responde: boolean | undefined; readonly estado: string; readonly diz: string };

/** An answer is recent for so long (D-824). */
const RESPOSTA_RECENTE_MS = 5 * MINUTE_MS;

type Problem = Awaited<ReturnType<World['store']['municipios']['findProblem']>>;

/** `now`: milliseconds; `tell`: writes a moment in the local time of the municipality. */
export type AdnVisto = {
  readonly circuito: CircuitoOuvido | undefined;
  readonly problem: Problem;
  readonly now: number;
  readonly tell: (instant: number) => string;
};

const TESTAR = 'Teste a conexão em Município.';

export function describeAdn({ ambiente, adn }: Municipio, { circuito, problem, now, tell }: AdnVisto): AdnHoje {
  if (!AMBIENTES[ambiente].transmits) {
    const diz = 'Em homologação nada vai ao ADN: quem responde é este serviço, e o que se emite não tem valor.';
    return { responde: undefined, estado: 'sem uso', diz };
  }
  const down = (diz: string): AdnHoje => ({ responde: false, estado: 'não responde', diz });
  if (adn === undefined) {
    return down('O município não tem endereço do ADN: as notas são emitidas e ficam à espera.');
  }
  const { abertoEm, motivo, respondeuEm, falhouEm, falha } = circuito ?? {};
  const ago = (instant: number): string => `há ${elapsed(now - instant)}`;
  const answered = respondeuEm === undefined ? '' : ` A última resposta foi ${ago(respondeuEm)}.`;
  if (abertoEm !== undefined) {
    const why = motivo === undefined ? '' : ` (${motivo})`;
    return down(
      `O ADN não responde desde ${tell(abertoEm)}${why}. O circuito está aberto: o serviço tenta de novo sozinho, a cada meio minuto.${answered}`,
    );
  }
  if (problem !== undefined) {
    const { problema, desde, vistoEm } = problem;
    return down(`Desde ${tell(desde)} as notas não seguem: ${problema}. Visto ${ago(vistoEm)}.`);
  }
  if (falhouEm !== undefined && falhouEm > (respondeuEm ?? 0)) {
    const why = falha === undefined ? '' : `: ${falha.replace(/\.$/, '')}`;
    return down(`A última pergunta ao ADN, ${ago(falhouEm)} (${tell(falhouEm)}), não deu certo${why}.${answered}`);
  }
  const unknown = (diz: string): AdnHoje => ({ responde: undefined, estado: 'não se sabe', diz });
  if (respondeuEm === undefined) return unknown(`Ninguém perguntou nada ao ADN ainda. ${TESTAR}`);
  if (now - respondeuEm > RESPOSTA_RECENTE_MS) {
    return unknown(`Ninguém perguntou nada ao ADN desde ${tell(respondeuEm)}, quando respondeu. ${TESTAR}`);
  }
  const diz = `Respondeu ${ago(respondeuEm)} (${tell(respondeuEm)}). O que está pronto é enviado em seguida.`;
  return { responde: true, estado: 'responde', diz };
}

/** A duration in its largest unit. */
export function elapsed(ms: number): string {
  const count = (many: number, one: string, others: string): string => (many === 1 ? `1 ${one}` : `${many} ${others}`);
  if (ms < MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`;
  if (ms < HOUR_MS) return count(Math.floor(ms / MINUTE_MS), 'minuto', 'minutos');
  if (ms < 2 * DAY_MS) return count(Math.floor(ms / HOUR_MS), 'hora', 'horas');
  return count(Math.floor(ms / DAY_MS), 'dia', 'dias');
}
