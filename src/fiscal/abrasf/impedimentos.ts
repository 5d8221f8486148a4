/** The faults for which no DPS can be made of an RPS. They are reported before a DPS is judged, in the words of the model. */
import { readSubitem, servicos } from '../catalogs/catalogs.ts';
import { readDecimal, ZERO } from '../decimal.ts';
import { ISS_MAX } from '../iss.ts';
import type { Rps } from './rps.ts';
import {
  aliquotaOf,
  amount,
  type Contexto,
  cTribNacOf,
  ENDERECO,
  FORA_DO_PAIS,
  isAbroad,
  isExempt,
  neverExempt,
  V,
  WITHOUT_CSLL,
  withoutOwnBase,
} from './rps-values.ts';

export type Impedimento = {
  readonly codigo: string;
  /** Path below `InfRps`. */
  readonly rps: string;
  /** The case in which it is reported, for the page. */
  readonly quando: string;
  /** The text of the message. */
  readonly detalhe: string;
  /** The correction, if it differs from that of the code. */
  readonly correcao?: string;
  /** Applies only when the national rules refuse (D-86). */
  readonly nacional?: true;
  /** The DPS is still judged, so that its other faults are reported as well. */
  readonly julga?: true;
  readonly has: (rps: Rps, contexto: Contexto) => boolean;
};

export const IMPEDIMENTOS: readonly Impedimento[] = [
  {
    codigo: 'E18',
    rps: `${V}/ValorServicos`,
    quando: 'Valor do serviço zero',
    detalhe: '(Servico/Valores/ValorServicos)',
    julga: true,
    has: (rps) => /^[0.]+$/.test(rps.get(`${V}/ValorServicos`) ?? ''),
  },
  {
    codigo: 'E60',
    rps: `${ENDERECO}/CodigoMunicipio`,
    quando: 'Tomador no exterior: UF EX, ou o município só de noves',
    detalhe: 'A nota de um tomador no exterior pede país, cidade e NIF, que o modelo não tem.',
    has: isAbroad,
  },
  {
    codigo: 'E42',
    rps: 'Servico/CodigoMunicipio',
    quando: 'Serviço prestado no exterior: o município só de noves',
    detalhe: 'A nota de um serviço prestado no exterior pede o país, que o modelo não tem: emita pela API REST.',
    has: (rps) => FORA_DO_PAIS.test(rps.get('Servico/CodigoMunicipio') ?? ''),
  },
  {
    codigo: 'E30',
    rps: 'Servico/ItemListaServico',
    quando: 'Item que não está na lista de serviços, sem código nacional na extensão nem na correlação',
    detalhe: 'Ele não está na lista da LC 116.',
    has: (rps, contexto) => {
      const subitem = readSubitem(rps.get('Servico/ItemListaServico') ?? '');
      return cTribNacOf(rps, contexto) === undefined && !servicos().some((servico) => servico.subitem === subitem);
    },
  },
  {
    codigo: 'E160',
    rps: `${V}/Aliquota`,
    quando: 'Alíquota acima de 5%, o máximo da lei: quase sempre um percentual escrito como fração, ou o contrário',
    detalhe: 'Aliquota passa de 5%, o máximo da lei: 5% é 0.05, ou 5.',
    julga: true,
    has: (rps) => (readDecimal(aliquotaOf(rps) ?? '') ?? ZERO) > ISS_MAX,
  },
  {
    codigo: 'E103',
    rps: `${V}/ValorCsll`,
    quando: 'CSLL retida, e um TipoRetencaoPisCofins (0, 4, 5 ou 6) segundo o qual não foi',
    detalhe: 'ValorCsll traz um valor, e TipoRetencaoPisCofins diz que a CSLL não foi retida.',
    correcao: 'Corrija TipoRetencaoPisCofins, ou retire ValorCsll.',
    has: (rps) => WITHOUT_CSLL.has(rps.get(`${V}/TipoRetencaoPisCofins`) ?? '') && amount(rps, 'ValorCsll') > ZERO,
  },
  {
    codigo: 'E37',
    rps: `${V}/IssRetido`,
    quando: 'Isenção (natureza 3) com o ISS retido',
    detalhe: 'A natureza é 3, isenção.',
    has: (rps) => isExempt(rps) && rps.get(`${V}/IssRetido`) === '1',
  },
  {
    codigo: 'E153',
    rps: `${V}/ValorIssRetido`,
    quando: 'ISS retido, e IssRetido 2, segundo o qual não foi',
    detalhe: 'ValorIssRetido traz um valor, e IssRetido 2 diz que o ISS não foi retido.',
    correcao: 'Use IssRetido 1, ou retire ValorIssRetido.',
    julga: true,
    has: (rps) => rps.get(`${V}/IssRetido`) === '2' && amount(rps, 'ValorIssRetido') > ZERO,
  },
  {
    codigo: 'E144',
    rps: 'NaturezaOperacao',
    quando: 'Na integração, natureza 2 (devido fora) de um prestador sem nota ali, de quem não se sabe o município',
    detalhe:
      'A integração ainda não sabe qual é o município deste prestador, de que a natureza 2 diz que o ISS é devido fora.',
    correcao:
      'Emita antes ali uma nota com a natureza 1, prestada no município do prestador: as seguintes são desse município.',
    has: (rps, { cLocEmi }) => cLocEmi === undefined && rps.get('NaturezaOperacao') === '2',
  },
  {
    codigo: 'E144',
    rps: 'NaturezaOperacao',
    quando:
      'Isenção (natureza 3) de um serviço que a LC 116 não deixa isentar: todos, salvo os dispensados do mínimo de 2%',
    detalhe: 'Este serviço não pode ser isento (LC 116, art. 8º-A). Use a natureza 1, ou 4 se é imune.',
    nacional: true,
    has: (rps, contexto) => isExempt(rps) && neverExempt(rps, contexto),
  },
  {
    codigo: 'E144',
    rps: 'NaturezaOperacao',
    quando:
      'Isenção (natureza 3) de quem não tem na nota base que se reduza: Simples Nacional (salvo 7.02 e 7.05), MEI e regime especial',
    detalhe:
      'O prestador apura o ISSQN pelo Simples Nacional ou em regime especial, e a nota não leva isenção. Use a natureza 1.',
    nacional: true,
    has: (rps, contexto) => isExempt(rps) && withoutOwnBase(rps, contexto),
  },
  {
    codigo: 'E144',
    rps: 'NaturezaOperacao',
    quando: 'Isenção (natureza 3) sem o número do benefício na correlação do município',
    detalhe: 'A isenção pede o número do benefício: a prefeitura o põe na correlação, na linha do item.',
    nacional: true,
    // A service that cannot be exempt at all needs no number.
    has: (rps, contexto) =>
      isExempt(rps) &&
      contexto.correlacao?.nBM === undefined &&
      !neverExempt(rps, contexto) &&
      !withoutOwnBase(rps, contexto),
  },
];
