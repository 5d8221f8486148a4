/**
 * The 47 national rules that depend on a municipality's parameters (Anexo I v1.01, level 3 and those of its parameters). Each is one of our
 * rules, or is answered by another code, or has a reason for its absence. They are copied by hand from the national table.
 */
export type Parametro = {
  readonly code: string;
  /** The subject of the rule, in Portuguese. */
  readonly sobre: string;
  /** The code that answers in its place, if that is another one. */
  readonly responde?: string;
  /** The reason why no code answers. */
  readonly fora?: string;
};

const SEM_PRAZO =
  'a substituição não tem aqui parâmetros por município; o que a nota substituída admite está em E0044 a E0076 e E1308';

export const PARAMETROS: readonly Parametro[] = [
  { code: 'E0050', sobre: 'prazo da substituição', fora: SEM_PRAZO },
  { code: 'E0056', sobre: 'substituição de nota sem tomador', fora: SEM_PRAZO },
  { code: 'E0058', sobre: 'substituição que muda o tomador', fora: SEM_PRAZO },
  { code: 'E0060', sobre: 'substituição que muda competência, serviço ou local', fora: SEM_PRAZO },
  { code: 'E0061', sobre: 'substituição, no Simples, que muda tomador, competência ou valor', fora: SEM_PRAZO },
  {
    code: 'E0070',
    sobre: 'substituição de nota confirmada',
    fora: 'é do emissor público nacional; o ADN não a confere',
  },
  { code: 'E0176', sobre: 'regime especial: profissional autônomo' },
  { code: 'E0177', sobre: 'regime especial que o município não admite' },
  { code: 'E0178', sobre: 'regime especial de outro contribuinte' },
  { code: 'E0312', sobre: 'serviço que o município não administra', responde: 'E0310' },
  { code: 'E0314', sobre: 'código municipal que não existe', responde: 'E402' },
  { code: 'E0439', sobre: 'dedução numa isenção' },
  { code: 'E0440', sobre: 'dedução em serviço que não a admite' },
  { code: 'E0441', sobre: 'dedução, no Simples, em serviço que não a admite' },
  { code: 'E0444', sobre: 'dedução por percentual e o mínimo de 2%', responde: 'E0429' },
  { code: 'E0446', sobre: 'dedução por valor' },
  { code: 'E0447', sobre: 'dedução por valor e o mínimo de 2%', responde: 'E0429' },
  { code: 'E0449', sobre: 'dedução por documentos' },
  { code: 'E0454', sobre: 'dedução por percentual' },
  { code: 'E0536', sobre: 'benefício de quem apura pelo Simples' },
  {
    code: 'E0537',
    sobre: 'benefício com o município de incidência fora do convênio',
    fora: 'o município deste serviço é conveniado; do convênio dos outros não há cadastro',
  },
  { code: 'E0539', sobre: 'não incidência de serviço tributado' },
  { code: 'E0540', sobre: 'tributação de serviço em que o ISSQN não incide' },
  { code: 'E0541', sobre: 'benefício que não existe' },
  { code: 'E0544', sobre: 'benefício fora da vigência' },
  {
    code: 'E0548',
    sobre: 'benefício só de prestadores do município',
    fora: 'quem emite aqui é sempre do município (E403); os documentos do benefício dizem quem pode usá-lo (E0550)',
  },
  { code: 'E0550', sobre: 'benefício de outro serviço ou prestador' },
  { code: 'E0565', sobre: 'vRedBCBM em benefício de outro tipo' },
  { code: 'E0567', sobre: 'falta vRedBCBM' },
  { code: 'E0574', sobre: 'benefício maior que o valor do serviço' },
  { code: 'E0575', sobre: 'benefício em reais e o mínimo de 2%', responde: 'E0429' },
  { code: 'E0577', sobre: 'pRedBCBM em benefício de outro tipo' },
  { code: 'E0579', sobre: 'falta pRedBCBM' },
  { code: 'E0583', sobre: 'retenção sobre um MEI' },
  { code: 'E0586', sobre: 'percentual além do cadastrado' },
  { code: 'E0587', sobre: 'benefício em percentual e o mínimo de 2%', responde: 'E0429' },
  { code: 'E0612', sobre: 'alíquota com isenção ou alíquota diferenciada' },
  { code: 'E0617', sobre: 'alíquota enviada onde há a do cadastro' },
  { code: 'E0619', sobre: 'falta a alíquota' },
  { code: 'E0621', sobre: 'alíquota da retenção, no Simples, com convênio' },
  { code: 'E0625', sobre: 'alíquota sem retenção, no Simples, com convênio' },
  { code: 'E0628', sobre: 'alíquota da retenção, no Simples, sem convênio', responde: 'E0621' },
  { code: 'E0631', sobre: 'alíquota sem retenção, no Simples, sem convênio', responde: 'E0625' },
  { code: 'E0635', sobre: 'alíquota enviada de quem apura fora do Simples, onde há a do cadastro', responde: 'E0617' },
  { code: 'E0640', sobre: 'falta a alíquota de quem apura fora do Simples' },
  {
    code: 'E0667',
    sobre: 'retenção por tomador com CPF',
    fora: 'não há cadastro de pessoas que retêm; a retenção declarada é aceita',
  },
  {
    code: 'E0670',
    sobre: 'retenção por intermediário com CPF',
    fora: 'não há cadastro de pessoas que retêm; a retenção declarada é aceita',
  },
];
