"""Routes, listeners, commands, injected functions and fixtures, as a program of each framework registers them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.routes import alike, segments, variants
from tests.conftest import Ran

FILES = {
    # Django: variables, included modules, and a prefix that is computed
    "dj/site/settings.py": 'ROOT_URLCONF = "site.urls"\n',
    "dj/site/urls.py": (
        "from django.urls import include, path\nfrom shop import views\n"
        'urlpatterns = [path("shop/", include("shop.urls")), path(f"{PREFIX}old/", include("late.urls"))]\n'
    ),
    "dj/shop/urls.py": (
        "from django.urls import include, path, re_path\nfrom shop import views\n"
        'item_urls = [path("", views.item), path("sell", login_required(views.sell))]\n'
        'urlpatterns = [path("<uuid:code>/", include(item_urls)), path("list", views.Listing.as_view()),\n'
        '    re_path(r"^by/(?P<year>[0-9]{4})/$", views.by_year)]\n'
    ),
    "dj/late/urls.py": 'from django.urls import path\nfrom shop.views import late\nurlpatterns = [path("x", late)]\n',
    "dj/shop/views.py": (
        "def item(r): pass\ndef sell(r): pass\ndef by_year(r): pass\ndef late(r): pass\nclass Listing:\n    def get(self): pass\n"
    ),
    # Django REST framework: viewsets by router, one that nobody registers
    "drf/site/settings.py": 'ROOT_URLCONF = "drf.urls"\n',
    "drf/urls.py": (
        "from django.urls import include, path\nfrom drf.routes import router\n"
        'urlpatterns = [path("drf/", include(router.urls))]\n'
    ),
    "drf/routes.py": (
        "from drf.api import CrateSet\nrouter = DefaultRouter()\nrouter.register(r'crates', CrateSet)\n"
        "router.register(r'shelves/(?P<shelf>[0-9]+)/crates', CrateSet)\n"
    ),
    # viewsets by their bases, in a router that is included with its name
    "tuple/site/settings.py": 'ROOT_URLCONF = "tuple.urls"\n',
    "tuple/urls.py": (
        "from django.urls import include, path\nfrom tuple.api import BinView, JarView\ntop_router = DefaultRouter()\n"
        "top_router.register('jars', JarView)\ntop_router.register('bins', BinView)\n"
        "spaced = [path('lid', lid)]\ndef lid(r): pass\n"
        "urlpatterns = [path('tuple/', include((top_router.urls, 'api'))),\n"
        "    path('named/', include((spaced, 'app'), namespace='x'))]\n"
    ),
    "tuple/api.py": (
        "class Emptied:\n    @decorators.action(detail=True, methods=['PUT'])\n    def emptied(self, request, pk): pass\n"
        "    @action(detail=False)\n    def counted(self, request): pass\n"
        "class Kept(viewsets.ModelViewSet): pass\nclass Held(Kept, Emptied): pass\n"
        "class JarView(Held):\n    def destroy(self, request, pk): pass\n"
        "class BinView(Kept, Emptied):\n    def counted(self, request): pass\n"
        "@admin.action(description='x')\ndef publish(a, b, c): pass\n"
    ),
    "drf/api.py": (
        "class CrateSet(ModelViewSet):\n    def list(self, request): pass\n    def partial_update(self, request, pk): pass\n"
        "    @action(detail=True, methods=['POST'])\n    def open_up(self, request, pk): pass\n"
        "    @action(detail=False, url_path='of-mine')\n    def mine(self, request): pass\n    def helper(self): pass\n"
        "class LoneSet(ModelViewSet):\n    def retrieve(self, request, pk): pass\n    def destroy(self, request, pk): pass\n"
        "    def list(self, request): pass\n"
    ),
    # Flask: a blueprint with a prefix that the application replaces, and one that nobody registers
    "fl/main.py": (
        "from flask import Flask\nfrom fl.users import bp as users\n"
        "def create():\n    app = Flask(__name__)\n    app.register_blueprint(users, url_prefix='/people')\n"
        "    @app.route('/health')\n    def health(): pass\n    @app.get('/')\n    def root_page(): pass\n    return app\n"
    ),
    "fl/users.py": (
        "from flask import Blueprint\nbp = Blueprint('users', __name__, url_prefix='/users')\n"
        "@bp.route('/<int:id>', methods=['GET', 'DELETE'])\ndef user(id): pass\n"
    ),
    "fl/rest.py": (
        "from flask_restx import Api, Namespace, Resource\nshelf = Blueprint('rest', __name__, url_prefix='/rest')\n"
        "Api_v1 = Api(shelf, title='x')\nbooks = Namespace('books')\nApi_v1.add_namespace(books, '/books')\n"
        "app = Flask(__name__)\napp.register_blueprint(shelf)\n"
        "@books.route('/<int:id>')\nclass Book(Resource):\n    def get(self, id): pass\n    def put(self, id): pass\n"
    ),
    "fl/alone.py": "from flask import Blueprint\nbp = Blueprint('a', __name__)\n@bp.get('/alone')\ndef alone(): pass\n",
    # A blueprint and a router that functions make, one in a field of another object, and a constant as a path
    "made/app.py": (
        "from fastapi import FastAPI\nfrom made.bells import Bells, bell_router, outer_router\n"
        "class Server:\n    def __init__(self):\n        self.bells = Bells()\n"
        "    def set_up(self, app: FastAPI):\n        ringing = bell_router(1)\n"
        "        app.include_router(ringing, prefix='/bells')\n"
        "        app.include_router(\n            outer_router(self.bells.all),\n            prefix='/outer')\n"
        "        app.include_router(self.bells.tower)\n"
    ),
    "made/bells.py": (
        "from fastapi import APIRouter\nRING_AT = setting('RING_AT', '/ring/at', help='When')\n"
        "def bell_router(n):\n    router = APIRouter()\n    @router.get('/{id}')\n    def ring(id): pass\n"
        "    @router.post('')\n    def cast_bell(): pass\n    @router.get(config.RING_AT)\n    def ring_at(): pass\n    return router\n"
        "def outer_router(all):\n    return inner_router(all)\n"
        "def inner_router(all):\n    router = APIRouter()\n    @router.get('/in')\n    def inmost(): pass\n    return router\n"
        "class Bells:\n    def __init__(self):\n        self.tower = APIRouter(prefix='/tower')\n"
        "        @self.tower.get('/top')\n        def tower_top(): pass\n"
    ),
    # FastAPI
    "fa/main.py": (
        "from fastapi import APIRouter, Depends, FastAPI\nfrom fa import items\napp = FastAPI()\napi = APIRouter()\n"
        "api.include_router(items.router)\napp.include_router(api, prefix='/v1')\n"
    ),
    "fa/items.py": (
        "from fastapi import APIRouter, Depends\nrouter = APIRouter(prefix='/items')\ndef session(): pass\n"
        "@router.get('/{id}')\ndef read(id, s=Depends(session(ping))): pass\n"
    ),
    # FastAPI: a decorator of the program's own
    "fa/guarded.py": (
        "from fastapi import FastAPI\nfrom fa.guard import guarded\napp = FastAPI()\nrouter = APIRouter(prefix='/safe')\n"
        "app.include_router(router)\n@guarded(router.get, '/{id}', [Scope.READ])\ndef opened_safe(id): pass\n"
    ),
    # Express
    "js/app.js": (
        "const express = require('express');\nconst app = express();\nconst users = require('./users');\n"
        "app.use('/api', users);\napp.get('/ping', ping);\nfunction ping(req, res) {}\n"
        "const seen = cache.get('/ping', ping);\nbus.on('open', ping);\n"
    ),
    "js/users.js": (
        "const router = require('express').Router();\nconst control = require('./control');\n"
        "router.post('/users', check('x'), control.create);\nrouter.route('/users/:id').get(check('y'), control.show);\n"
        "module.exports = router;\n"
    ),
    "js/control.js": (
        "const create = (req, res) => {};\nconst show = wrapped(async (req, res) => {});\nmodule.exports = { create, show };\n"
    ),
    # fastify: plugins with prefixes, also in plugins without a name or in a variable, and types of requests
    "fast/app.ts": (
        "import fastify from 'fastify';\nimport { plugins } from './http';\nconst app = fastify();\n"
        "app.register(plugins.boxes, { prefix: '/boxes' });\n"
    ),
    "fast/http.ts": "export * as plugins from './plugins';\n",
    "fast/plugins.ts": "export { default as boxes } from './boxes';\n",
    "fast/boxes.ts": (
        "import { pack } from './pack';\nexport default async function routes(fastify: FastifyInstance) {\n"
        "  fastify.register(async (inner) => {\n    inner.get<Req>('/:id', { schema }, pack);\n  }, { prefix: 'in' });\n"
        "  fastify.register(wrapped, { prefix: SUFFIX });\n}\nconst SUFFIX = '/signed';\n"
        "const wrapped = plugin(async (fastify: FastifyInstance) => {\n  fastify.register(async (f) => {\n"
        "    f.post('/', pack);\n  });\n});\n"
    ),
    "fast/pack.ts": "export async function pack(req, reply) {}\n",
    # fastify: folders of routes
    "auto/app.js": (
        "import fastify from 'fastify';\nconst app = fastify();\n"
        "app.register(autoload, { dir: path.join(__dirname, 'routes'), prefix: '/auto' });\n"
        "app.register(fp(cats, { name: 'cats' }), { prefix: '/cats' });\n"
        "async function cats(fastify) {\n  fastify.get('/', catchMouse);\n}\nfunction catchMouse() {}\n"
    ),
    "auto/routes/mice/index.js": "export default async function (fastify) {\n  fastify.get('/:id', catchMouse);\n}\nfunction catchMouse() {}\n",
    # net/http: the method in the pattern; groups that take a function
    "go/mux.go": (
        'package main\nfunc Mux() {\n\trouter := routegroup.New(http.NewServeMux())\n\tapi := router.Mount("/api/v3")\n'
        '\tapi.Group().Route(func(r *Bundle) {\n\t\tr.With(limit("x")).HandleFunc("GET /tins/{id}", tin)\n'
        '\t\tr.Mount("/deep").Route(func(d *Bundle) {\n\t\t\td.HandleFunc("POST /tins", addTin(store.db))\n\t\t})\n\t})\n}\n'
        "func tin(w http.ResponseWriter, r *http.Request) {}\nfunc addTin(w http.ResponseWriter, r *http.Request) {}\n"
    ),
    # chi: several routers, of which one is at the root
    "chi/a/a.go": 'package a\nfunc A() http.Handler { r := chi.NewRouter(); r.Get("/a", GetA); return r }\nfunc GetA() {}\n',
    # Gin: a group that is passed on; the same function in a test
    "go/main.go": (
        'package main\nimport "github.com/gin-gonic/gin"\nfunc main() {\n\tr := gin.Default()\n\tv1 := r.Group("/v1")\n'
        '\tRegister(v1.Group("/carts"))\n}\nfunc Register(g *gin.RouterGroup) { g.PUT("/:id", Auth(), Change) }\n'
        'func Change(c *gin.Context) {}\nfunc Health(c *gin.Context) {}\n'
        'func Plain(r *gin.Engine) { r.Match([]string{"GET", "HEAD"}, "health", Health) }\nfunc Unknown(g *gin.RouterGroup) { g.GET("/far", Change) }\n'
    ),
    "go/main_test.go": 'package main\nfunc TestIt() { r := gin.New(); Register(r.Group("/test")) }\n',
    # Spring, ASP.NET
    "java/Pets.java": (
        '@RequestMapping("/pets")\nclass Pets {\n  /** For every @GetMapping("/no"). */\n'
        '  @GetMapping({"/{id}", "/by/{id}"})\n  public Pet show() { return null; }\n'
        '  @RequestMapping(value = "/add", method = RequestMethod.POST)\n  Pet add() { return null; }\n}\n'
    ),
    # of all rows of the table, the file has a sign of the last one only
    "java/Moves.java": "interface MoveListener {\n  void moved(Pet pet);\n}\n",
    "cs/Pets.cs": (
        '[Route("api/[controller]")]\nclass PetsController {\n  [HttpGet("{id}")]\n  public int Show() { return 1; }\n'
        '  [HttpPost("/raw")]\n  public int Raw() { return 1; }\n}\n'
    ),
    # ASP.NET: the attribute of a base, one that the program declares
    "cs/Base.cs": '[Route("v1/[controller]")]\nclass ApiController : ControllerBase { }\n',
    "cs/OursAttribute.cs": (
        "[Route(Path)]\nclass OursAttribute : RouteAttribute {\n  const string Path = \"ours/[controller]\";\n}\n"
    ),
    "cs/Cups.cs": (
        "class CupsController : ApiController {\n  [HttpGet]\n  public int Cups() { return 1; }\n}\n"
        '[Ours]\nclass MugsController : ControllerBase {\n  [HttpGet("all")]\n  public int Mugs() { return 1; }\n}\n'
    ),
    # Echo: what stands after the handler; two groups that are passed on
    "go/echo.go": (
        'package main\nimport "github.com/labstack/echo/v5"\nfunc Echo(e *echo.Echo) {\n\ta := e.Group("/a")\n'
        "\tBoth(e, a)\n}\nfunc Both(e *echo.Echo, g *echo.Group) {\n"
        '\tg.GET("/in", Inside, Limit)\n\te.GET("/out", Outside)\n\tx := e.Group("/x")\n\t{\n'
        '\t\ty := x.Group("/y")\n\t\tx.GET("/z", Shadow)\n\t\t{\n\t\t\tx := y.Group("")\n\t\t\tx.GET("/w", Shadow)\n\t\t}\n\t}\n}\n'
        "func Shadow(c echo.Context) {}\n"
        "func Inside(c echo.Context) {}\nfunc Outside(c echo.Context) {}\nfunc Limit(c echo.Context) {}\n"
    ),
    # Rails
    "rb/config/routes.rb": (
        'Rails.application.routes.draw do\n  namespace :admin do\n    get :board\n    resources :stories, only: [:show, :update] do\n'
        '      member do\n        post "hide"\n      end\n      resources :notes, only: %i[create]\n    end\n  end\n'
        '  get "/top(/:length)" => "home#top"\n  concern :hidden do\n    post :conceal\n  end\n'
        '  resources :gems, only: [], concerns: :hidden do\n    get :show, on: :member\n  end\n  resources :github_events, only: :create\n'
        '  %w[404 500].each do |code|\n    get code, to: "home#fault"\n  end\nend\n'
    ),
    "rb/app/stories.rb": "class Admin::StoriesController\n  def show; end\n  def update; end\n  def hide; end\nend\n",
    "rb/app/notes.rb": "module Admin\n  class NotesController\n    def create; end\n  end\nend\n",
    "rb/app/admin.rb": "class AdminController\n  def board; end\nend\n",
    "rb/app/home.rb": "class HomeController\n  def top; end\n  def fault; end\nend\n",
    "rb/app/gems.rb": "class GemsController\n  def conceal; end\n  def show; end\nend\n",
    "rb/app/github.rb": "class GitHubEventsController\n  def create; end\nend\n",
    # Laravel
    "php/routes/web.php": (
        "<?php\nuse App\\Http as H;\nRoute::prefix('admin')->group(function () {\n"
        "  Route::get('/users/{user}', [H\\Users::class, 'show']);\n"
        "  Route::controller(H\\Users::class)->group(function () { Route::post('/users', 'store'); });\n});\n"
        "Route::resource('photos', H\\Photos::class)->only(['index', 'show']);\n"
    ),
    "php/Users.php": "<?php\nnamespace App\\Http;\nclass Users { function show() {} function store() {} }\n",
    "php/Photos.php": "<?php\nnamespace App\\Http;\nclass Photos { function index() {} function show() {} }\n",
    # axum, actix
    "rs/src/main.rs": (
        "fn app() -> Router { Router::new().nest(\"/api\", users()).route(\"/ready\", get(ready)) }\n"
        "fn users() -> Router { Router::new().route(\"/users\", get(list).post(add)) }\n"
        "async fn ready() {}\nasync fn list() {}\nasync fn add() {}\n"
    ),
    "rs/src/actix.rs": (
        "fn config(cfg: &mut web::ServiceConfig) {\n"
        "  cfg.service(web::scope(\"/v2\").route(\"/a\", web::get().to(first)).service(second));\n}\n"
        "fn start() { App::new().configure(config); }\n"
        "async fn first() {}\n#[post(\"/b\")]\nasync fn second() {}\n"
    ),
    # Prefixes in settings: of FastAPI, Flask, Express, NestJS and Spring; one that has two values
    "set/settings.py": "class Settings(BaseSettings):\n    API_V1: str = '/api/v1'\n    OWN: str = os.getenv('OWN', '/own')\n",
    "set/app.py": (
        "from fastapi import FastAPI\nbase = '/b'\napp = FastAPI()\napp.include_router(r1, prefix=settings.API_V1)\n"
        "app.include_router(r2, prefix=f'{base}{settings.OWN}')\napp.include_router(r3, prefix=settings.TWICE)\n"
        "r1 = APIRouter()\nr2 = APIRouter()\nr3 = APIRouter()\n"
        "@r1.get('/one')\ndef set_one(): pass\n@r2.get('/two')\ndef set_two(): pass\n@r3.get('/three')\ndef set_three(): pass\n"
    ),
    "set/other.py": "class A:\n    TWICE = '/a'\n",
    "set/another.py": "class B:\n    TWICE = '/b'\n",
    "set/conf.js": "export default { port: 80, http: { base: '/web' } };\n",
    "set/app.js": (
        "import config from './conf';\nconst app = express();\nconst site = express.Router();\n"
        "app.use(config.http.base, site);\nsite.get('/js', setJs);\nfunction setJs(req, res) {}\n"
    ),
    "nest/src/main.ts": "async function start() {\n  const app = await NestFactory.create(M);\n  app.setGlobalPrefix('nest');\n  app.enableVersioning();\n}\n",
    "nest/src/cats.ts": (
        "@Controller('cats')\nexport class CatsController {\n  @Get()\n  @Roles('x')\n  allCats() {}\n}\n"
        "@Controller({ path: 'dogs', version: '2' })\nexport class DogsController {\n  @Post('bark')\n  barkDog() {}\n}\n"
    ),
    # NestJS: versions in the path, in a header, and some that are computed
    "apps/uri/src/main.ts": (
        "app.setGlobalPrefix('uri');\n"
        "app.enableVersioning({\n  type: VersioningType.URI,\n  defaultVersion: ['1', VERSION_NEUTRAL],\n});\n"
    ),
    "apps/uri/src/hens.ts": (
        "@Controller('hens')\nexport class HensController {\n  @Get()\n  allHens() {}\n  @Get('old')\n  // @Version('7')\n"
        "  @Version('2')\n  oldHens() {}\n  @Version(VERSION_NEUTRAL)\n  @Get('any')\n  anyHen() {}\n"
        "  @Get('far')\n  @Version(CURRENT)\n  farHen() {}\n}\n"
        "@Controller({ path: 'eggs', version: ['2', '3'] })\nexport class EggsController {\n  @Get()\n  allEggs() {}\n}\n"
    ),
    "apps/head/src/main.ts": "app.enableVersioning({ type: VersioningType.HEADER, header: 'v', defaultVersion: '1' });\n",
    "apps/head/src/owls.ts": (
        "@Controller({ path: 'owls', version: '2' })\nexport class OwlsController {\n  @Get()\n  allOwls() {}\n}\n"
    ),
    "apps/made/src/main.ts": "app.enableVersioning(options);\n",
    "apps/made/src/rats.ts": "@Controller('rats')\nexport class RatsController {\n  @Get()\n  allRats() {}\n}\n",
    "spring/src/main/resources/application.yml": "server:\n  servlet:\n    context-path: /shop\n",
    "java/src/main/resources/application.properties": "server.port=80\n",
    "spring/src/main/java/Carts.java": (
        '@RequestMapping(Paths.CARTS + "/v1")\nclass Carts {\n  @GetMapping("/all")\n  int allCarts() { return 1; }\n}\n'
        'class Paths { static final String CARTS = "/carts"; }\n'
    ),
    # click, signals, pytest
    "cli.py": "import click\n@click.command()\ndef sync_all(): pass\n@receiver(post_save, sender=X)\ndef saved(): pass\n",
    "go/cmd.go": 'package main\nvar serveCmd = &cobra.Command{\n\tUse: "serve ADDRESS",\n\tRunE: serve,\n}\nfunc serve() {}\n',
    # Task queues
    "jobs/tasks.py": "@shared_task\ndef consume(n): pass\ndef clean(): pass\nclass Debounce:\n    def delay(self): pass\n",
    "jobs/use.py": (
        "from jobs import tasks\nfrom jobs.tasks import consume\ndef later():\n    consume.delay(1)\n"
        "def chained():\n    chain(tasks.consume.s(1), tasks.clean.si())\ndef queued(queue):\n    queue.enqueue(tasks.clean)\n"
        "def other(clean):\n    clean.delay()\n    Debounce().delay()\n"
    ),
    "jobs/mail_job.rb": "class MailJob < ApplicationJob\n  def perform(id)\n  end\nend\n",
    "jobs/use.rb": (
        "class Post\n  def notify\n    MailJob.set(wait: 5).perform_later(id)\n  end\n  def now\n    MailJob.perform_now(id)\n"
        "  end\nend\n"
    ),
    "jobs/Ship.php": "<?php\nnamespace Shop;\nclass Ship { function handle() {} }\n",
    "jobs/Use.php": (
        "<?php\nuse Shop\\Ship;\nclass Sale {\n  function pay() { Ship::dispatch(1); }\n  function twice() { dispatch(new Ship(2)); }\n"
        "  function all() { Bus::dispatch(new \\Shop\\Ship); }\n}\n"
    ),
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef db(): pass\n",
    "tests/unit/test_it.py": "def test_it(db): pass\n",
}  # fmt: skip

#: Function -> under which names it is registered.
NAMES = {
    "item": ["/shop/<uuid:code>/"], "sell": ["/shop/<uuid:code>/sell"], "Listing": ["/shop/list"],
    "by_year": ["/shop/by/<year>/"], "late": ["{PREFIX}old/x"],
    "set_one": ["GET /api/v1/one"], "set_two": ["GET /b/own/two"], "set_three": ["GET {settings.TWICE}/three"],
    "setJs": ["GET /web/js"], "allCats": ["GET /nest/cats"], "barkDog": ["POST /nest/v2/dogs/bark"],
    "allHens": ["GET /uri/hens", "GET /uri/v1/hens"], "oldHens": ["GET /uri/v2/hens/old"], "anyHen": ["GET /uri/hens/any"],
    "farHen": ["GET …/hens/far"], "allEggs": ["GET /uri/v2/eggs", "GET /uri/v3/eggs"], "allOwls": ["GET /owls"],
    "allRats": ["GET …/rats"],
    "allCarts": ["GET /shop/carts/v1/all"],
    "user": ["DELETE /people/<int:id>", "GET /people/<int:id>"], "health": ["GET /health"], "alone": ["GET …/alone"],
    "Book.get": ["GET /rest/books/<int:id>"], "Book.put": ["PUT /rest/books/<int:id>"],
    "CrateSet.list": ["GET /drf/crates", "GET /drf/shelves/<shelf>/crates"], "CrateSet.helper": [], "LoneSet.list": [],
    "CrateSet.partial_update": ["PATCH /drf/crates/{pk}", "PATCH /drf/shelves/<shelf>/crates/{pk}"],
    "open_up": ["POST /drf/crates/{pk}/open_up", "POST /drf/shelves/<shelf>/crates/{pk}/open_up"],
    "mine": ["GET /drf/crates/of-mine", "GET /drf/shelves/<shelf>/crates/of-mine"],
    "JarView.destroy": ["DELETE /tuple/jars/{pk}"], "Emptied.counted": ["GET /tuple/jars/counted"], "publish": [],
    "emptied": ["PUT /tuple/bins/{pk}/emptied", "PUT /tuple/jars/{pk}/emptied"], "lid": ["/named/lid"],
    "catchMouse": ["GET /auto/mice/:id", "GET /cats/"],
    "pack": ["GET /boxes/in/:id", "POST /boxes/signed/"], "opened_safe": ["GET /safe/{id}"],
    "tin": ["GET …/api/v3/tins/{id}"], "addTin": ["POST …/api/v3/deep/tins"], "GetA": ["GET …/a"],
    "read": ["GET /v1/items/{id}"], "session": ["inject"],
    "ping": ["GET /ping", "open"], "create": ["POST /admin/stories/:story_id/notes", "POST /api/users", "POST /github_events"],
    "Health": ["GET /health", "HEAD /health"], "Change": ["GET …/far", "PUT /v1/carts/:id"],
    "Pets.show": ["GET /pets/by/{id}", "GET /pets/{id}"], "add": ["POST /api/users", "POST /pets/add"],
    "Show": ["GET /api/Pets/{id}"], "Raw": ["POST /raw"],
    "ring": ["GET /bells/{id}"], "cast_bell": ["POST /bells"], "ring_at": ["GET /bells/ring/at"],
    "inmost": ["GET /outer/in"], "tower_top": ["GET /tower/top"],
    "Cups": ["GET /v1/Cups"], "Mugs": ["GET /ours/Mugs/all"],
    "Inside": ["GET /a/in"], "Outside": ["GET /out"], "Shadow": ["GET /x/y/w", "GET /x/z"],
    "conceal": ["POST /gems/:gem_id/conceal"], "fault": ["GET /404", "GET /500"],
    "GitHubEventsController.create": ["POST /github_events"],
    "GemsController.show": ["GET /gems/:id"],
    "board": ["GET /admin/board"], "StoriesController.show": ["GET /admin/stories/:id"],
    "StoriesController.update": ["PATCH /admin/stories/:id", "PUT /admin/stories/:id"],
    "StoriesController.hide": ["POST /admin/stories/:id/hide"], "top": ["GET /top(/:length)"],
    "Users.show": ["GET /admin/users/{user}"], "store": ["POST /admin/users"],
    "Photos.index": ["GET /photos"], "Photos.show": ["GET /photos/{photo}"],
    "ready": ["GET /ready"], "list": ["GET /api/users", "GET /drf/crates", "GET /drf/shelves/<shelf>/crates"], "first": ["GET /v2/a"], "second": ["POST /v2/b"],
    "sync_all": ["sync-all"], "saved": ["post_save"], "serve": ["serve"],
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("routes")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    app.build_index(str(root), jobs=1)
    return root


@pytest.mark.parametrize("function", NAMES)
def test_a_function_is_called_by_the_names_under_which_it_is_registered(root: Path, function: str) -> None:
    from lci_py.types.graph import GraphRequest

    with app.open_engine(str(root)) as engine:
        answer = engine.answer("callers", GraphRequest(function, all_meanings=True))
    kinds = ("route", "event", "command", "inject")
    assert sorted(one.place.symbol for one in answer.neighbours if one.place.kind in kinds) == NAMES[function]


def test_a_file_with_a_sign_of_one_row_is_read(lci: Callable[..., Ran], root: Path) -> None:
    assert "1 definition" in lci("def", "MoveListener.moved", cwd=root).out


def test_a_fixture_is_called_by_the_test_that_takes_it(lci: Callable[..., Ran], root: Path) -> None:
    (found,) = json.loads(lci("callers", "db", "--json", cwd=root).out)["results"]
    assert (found["symbol"], found["step"]) == ("test_it", "fixture")


@pytest.mark.parametrize(
    ("task", "callers"),
    [
        ("consume", ["later", "chained"]),
        ("clean", ["chained", "queued"]),
        ("MailJob.perform", ["notify", "now"]),
        ("Ship.handle", ["pay", "twice", "all"]),
    ],
)
def test_who_queues_a_task_calls_its_function(
    lci: Callable[..., Ran], root: Path, task: str, callers: list[str]
) -> None:
    results = json.loads(lci("callers", task, "--json", cwd=root).out)["results"]
    assert [(one["symbol"].rpartition(".")[2], one["step"]) for one in results] == [(name, "task") for name in callers]


@pytest.mark.parametrize(
    ("query", "first", "route"),
    [
        ("GET /admin/stories/12", "show", "GET /admin/stories/:id"),
        ("/shop/<uuid>/sell", "sell", "/shop/<uuid:code>/sell"),
        ("post /api/users", "add", "POST /api/users"),
        ("GET /v9/old/far", "Change", "GET …/far"),
        ("GET /any/prefix/three", "set_three", "GET {settings.TWICE}/three"),
        ("GET /", "root_page", "GET /"),
        ("/top/day?x=1", "top", "GET /top(/:length)"),
        ("GET /api/users/7", "show", "GET /api/users/:id"),  # a variable that holds what a function made
    ],
)
@pytest.mark.parametrize("mode", ["dense", "multiview"])
def test_a_path_finds_the_function_that_answers_it(
    lci: Callable[..., Ran], root: Path, query: str, first: str, route: str, mode: str
) -> None:
    results = json.loads(lci("search", query, "--mode", mode, "--json", cwd=root).out)["results"]
    assert first in [result.get("symbol") for result in results[:2]]
    assert any(route in result["routes"] for result in results[:2] if result.get("symbol") == first)


def test_explore_begins_with_the_handler(lci: Callable[..., Ran], root: Path) -> None:
    pieces = json.loads(lci("explore", "GET /people/7", "--json", cwd=root).out)["pieces"]
    assert [(one["file"], one["line"]) for one in pieces if one["role"] == "named"] == [("fl/users.py", 4)]


def test_a_path_is_a_name(lci: Callable[..., Ran], root: Path) -> None:
    shown = lci("callers", "GET /health", cwd=root).out
    assert "fl/main.py\n6 route GET /health  route" in shown


@pytest.mark.parametrize(
    ("route", "path", "fits"),
    [
        ("/a/<id>", "/a/1", True),
        ("/a/<id>", "/a", False),
        ("…/b", "/a/b", True),
        ("…/b", "/b/a", False),
        ("/a/b", "…/b", True),
        ("/a/:id", "/a/:key/", True),
    ],
)
def test_a_route_fits_a_path(route: str, path: str, fits: bool) -> None:
    assert (alike(segments(route), segments(path)) is not None) is fits


def test_optional_parts() -> None:
    assert variants("/top(/:a(/:b))") == ["/top", "/top/:a", "/top/:a/:b"]
