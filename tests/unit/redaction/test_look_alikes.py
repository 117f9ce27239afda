"""What stands where a secret would be is left alone; what looks like a secret there is not."""

from __future__ import annotations

import random
import string

import pytest

from streams.memory.redaction import Redactor, load_policy

REDACTOR = Redactor(load_policy())

# References, forms to fill in, hashes of commits, and talk about keys.
NO_SECRET = """
export API_KEY=$MY_API_KEY
export TOKEN="${GITHUB_TOKEN}"
token: <token>
api_key = "<your-api-key>"
api_key: your-api-key
API_KEY=your_api_key_here
api_key = os.environ["OPENAI_API_KEY"]
const key = process.env.API_KEY_PRODUCTION_2
password = getpass.getpass()
token=xxxxxxxxxxxxxxxx
the token is ****************
Authorization: Bearer <access_token>
Authorization: Bearer $ACCESS_TOKEN_2
Authorization: Bearer ${ACCESS_TOKEN_2}
Authorization: Bearer {{access_token_2024}}
Authorization: Bearer YOUR_ACCESS_TOKEN_2024
curl -H "Authorization: Bearer your-token-goes-here-123"
secret: ${{ secrets.DEPLOY_KEY_2 }}
api_key: %(api_key_2)s
client_secret: REPLACE_ME_WITH_SECRET_1
client_secret = "changeme123"
the key is 0000000000000000
the token is aaaaaaaaaaaaaaaa
key: AAAAAAAAAAAAAAAAAAAA1
the api key is sk-...
the api key starts with sk-proj-
the secret is in the vault at kv/data/team-a/prod-7
the key is stored as secret/data/app1/config2
fixed by commit 9fceb02d0ae598e95dc970b74767f19372d61af8
the token test broke in commit 9fceb02d0ae598e95dc970b74767f19372d61af8
cherry-pick 1a410efbd13591db07496601ebc7a059dd55cfe9 into main
git sha 83baae61804e65cc73a7201a7252750c76066a30 has the secret scanner fix
image: app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
primary key is user_id_2024
the foreign key is customer_order_id
the partition key is tenant_id-2
the cache key: user:profile:v2:settings
press the key F12 to open it
set the API key in the settings page
api key rotation happens every 90 days
the token expires after 3600 seconds
access token lifetime is 15 minutes
token limit is 128000 tokens
max_tokens=4096
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
the key takeaway is that Q3 revenue grew 12 percent
secretary: Margaret Thompson-Hughes
密钥是 <你的密钥>
密钥是 ${SECRET_KEY_2}
把 API key 填到 YOUR_API_KEY 这里
密钥放在环境变量 OPENAI_API_KEY_PROD 里
token 换成你自己的 xxxxxxxxxxxx
密码是 ********
令牌: {{ token_v2 }}
api key: "sk-xxxxxxxxxxxxxxxxxxxxxxxx"
token = config.get("auth_token_v2")
TOKEN=$(cat /run/secrets/token1)
token=`vault read -field=token secret/app1`
password: {{ vault_db_password_2 }}
password=%DB_PASSWORD2%
PASSWORD=$DB_PASSWORD_2
my password is stored in $DB_PASSWORD2
api_key=[REDACTED1]
api_key: (hidden 32 chars)
secret_key: ENV[SECRET_KEY_2]
secretKeyRef: {name: app-secrets-2, key: db-password-1}
valueFrom: secretKeyRef db-credentials-v2
token: !Ref GitHubTokenV2
token: !vault app/token2
apiKey: import.meta.env.VITE_API_KEY_2
token = ENV.fetch("API_TOKEN_2")
token: System.getenv("TOKEN_2")
token = $env:GITHUB_TOKEN2
"""


@pytest.mark.parametrize("text", NO_SECRET.strip().splitlines())
def test_a_stand_in_is_no_secret(text: str) -> None:
    assert REDACTOR.redact(text).spans == ()


# `{n}` random letters and digits, `{n:x}` hexadecimal digits, `{n:d}` digits, `{n:A}` letters of the base-32 alphabet.
SECRET = """
export API_KEY={32}
token: {40}
api_key = "{32:x}"
the token is {24}
the api key is {40:x}
my key is {30}
Authorization: Bearer {40}
Authorization: Bearer {32:x}
curl -H 'X-API-Key: {32}' https://api.example.com
client_secret: {32}
secret: '{28}'
token={20}-{10}
auth_token: {22}
refresh_token={44}
session key: {32:x}
private_key = '{64:x}'
the deploy token for staging is {26}
the token for the build server is {26}
the commit key is {40}
AccessKeySecret={30}
SecretId: AKID{32}
密钥是 {32}
密钥：{40:x}
令牌: {30}
口令是 {10}
token 是{32}
我的 token：{32}，别外传
把 API key 换成 {36}
sk-proj-{48}
ghp_{36}
AKIA{16:A}
glpat-{20}
AIza{35}
npm_{36}
webhook secret: whsec_{32}
xoxb-{12:d}-{12:d}-{24}
postgres://app:{14}@db.internal:5432/app
redis://:{16}@cache:6379/0
https://user:{12}@github.com/a/b.git
https://api.example.com/v1?access_token={32}
password: {12}
DB_PASSWORD={14}
wifi password is {10}
the admin password is {12}
curl -u admin:{12} https://example.com
密码是{10}
登录密码：{9}#1
my password is {{{{ {12}&x }}}}
password is import.{10}
Authorization: Bearer import.{24}
"""
ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "x": "0123456789abcdef",
    "d": string.digits,
    "A": string.ascii_uppercase + "234567",
}


@pytest.mark.parametrize("form", SECRET.strip().splitlines())
def test_a_secret_is_never_stored(form: str) -> None:
    """Also not masked: its sentence is dropped."""
    dice = random.Random(form)
    told: list[str] = []

    class Filled(string.Formatter):
        def get_value(self, key: int | str, args: object, kwargs: object) -> int:
            return int(key)

        def format_field(self, value: int, format_spec: str) -> str:
            # A letter and a digit at least, as keys have.
            told.append(
                "".join(dice.choices(ALPHABETS[format_spec], k=value - 2)) + ("3b" if format_spec in "x" else "37")
            )
            return told[-1]

    text = Filled().vformat(form, (), {})
    left = REDACTOR.redact(text).text
    assert all(value not in left for value in told), (text, left)
    assert any(span.action == "drop" for span in REDACTOR.redact(text).spans)
